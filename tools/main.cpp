// The command lull: the only place that catches, and that knows exit codes.

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "core/error.h"
#include "tools/parser.h"

namespace {

// sysexits.h, and 2 for usage as everywhere.
int exit_code(lull::ErrorKind kind) {
  switch (kind) {
    case lull::ErrorKind::invalid_argument:
      return 2;
    case lull::ErrorKind::bad_data:
      return 65;
    case lull::ErrorKind::no_input:
      return 66;
    case lull::ErrorKind::device_unavailable:
      return 69;
    case lull::ErrorKind::internal:
      return 70;
    case lull::ErrorKind::cannot_create:
      return 73;
    case lull::ErrorKind::io:
      return 74;
  }
  return 70;
}

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
  // A reader that went away and a file of the largest size allowed are errors of write(), as
  // others.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const lull::Error& e) {
    std::fprintf(stderr, "lull: %s\n", e.what());
    return exit_code(e.kind());
  } catch (const std::bad_alloc&) {
    std::fputs("lull: out of memory (an allocation failed); try a smaller --batch or input\n",
               stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lull: internal error (%s); please report it\n", e.what());
  }
  return exit_code(lull::ErrorKind::internal);
}
