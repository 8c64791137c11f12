#pragma once

namespace koord {

// Gives memory that was freed back to the system. Allocators keep it otherwise: after a burst a
// program would look as large as it was at its largest. Takes milliseconds.
void ReturnFreeMemory();

}  // namespace koord
