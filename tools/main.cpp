
#include <csignal>
#include <cstdio>

#include "core/error.h"
#include "tools/command_line/parser.h"
#include "tools/report/exit_code.h"

namespace {

int run(int argc, char** argv) {
  const lull::tools::CommandLine command = lull::tools::parse(argc, argv);
  std::fputs(command.text.c_str(), stdout);
  const int code = command.run ? command.run() : 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw lull::IoError("writing to standard output failed (closed, or the disk is full)");
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  // SIGPIPE and SIGXFSZ must not end the process: write() returns an error for a closed pipe or an
  // exceeded file size limit.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (...) {
    const lull::tools::Failure failure = lull::tools::current_failure();
    std::fprintf(stderr, "lull: %s\n", failure.text.c_str());
    return failure.code;
  }
}
