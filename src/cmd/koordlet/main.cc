#include "koordlet/program/koordlet_program.h"

int main(int argc, char** argv) { return koord::koordlet::RunKoordlet(argc, argv); }
