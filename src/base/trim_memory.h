#pragma once

namespace koord {

// Gives back the memory that a program needed only to start: free heap, and code and constants that
// are mapped but not used. What is used again comes back from the page cache at the price of a
// minor fault.
void TrimMemory();

}  // namespace koord
