#pragma once

namespace koord::koordlet {

// koordlet from its command line to its exit code.
//
//   koordlet [flags]            runs until it is told to stop
//   koordlet --once ...         one pass over a directory, see --help
//   koordlet features [flags]   what this machine can do
//   koordlet mount-resctrl      mounts resctrl where the machine has it and has not mounted it
int RunKoordlet(int argc, const char* const* argv);

}  // namespace koord::koordlet
