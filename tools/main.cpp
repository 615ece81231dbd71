// The program lull.

#include "tools/command_line/program.h"

int main(int argc, char** argv) { return lull::tools::run_program(argc, argv); }
