#pragma once
// The program `lull`, as a function.

namespace lull::tools {

/// Runs the command with the arguments of a program; argv[0] is the name of the program. Prints
/// errors on stderr, and returns the exit code (docs/reference/exit-codes.md).
///
/// The function changes the handling of SIGPIPE and SIGXFSZ in the process. While a run filters
/// frames, a SignalWatch receives SIGINT, SIGTERM and SIGHUP, so no other thread of the process may
/// receive these signals.
int run_program(int argc, char** argv);

}  // namespace lull::tools
