#include "tools/command_line/program.h"

#include <csignal>
#include <cstdio>

#include "core/error.h"
#include "tools/command_line/parser.h"
#include "tools/report/exit_code.h"

namespace lull::tools {
namespace {

int run(int argc, char** argv) {
  const CommandLine command = parse(argc, argv);
  std::fputs(command.text.c_str(), stdout);
  const int code = command.run ? command.run() : 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw IoError("writing to standard output failed (closed, or the disk is full)");
  return code;
}

}  // namespace

int run_program(int argc, char** argv) {
  // SIGPIPE and SIGXFSZ must not end the process. write() instead returns an error if the reader
  // has closed a pipe, or if a file exceeds the size limit.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (...) {
    const Failure failure = current_failure();
    std::fprintf(stderr, "lull: %s\n", failure.text.c_str());
    return failure.code;
  }
}

}  // namespace lull::tools
