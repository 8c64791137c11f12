#pragma once

namespace koord::koordlet {

// koordlet from its command line to its exit code.
//
//   koordlet [flags]            runs until it is told to stop
//   koordlet --once ...         one pass over a directory, see --help
//   koordlet features [flags]   what this machine can do
int RunKoordlet(int argc, const char* const* argv);

}  // namespace koord::koordlet
