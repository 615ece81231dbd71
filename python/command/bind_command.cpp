#include "python/command/bind_command.h"

#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "tools/command_line/program.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {
namespace {

int run_command(const std::vector<nb::bytes>& arguments) {
  std::vector<std::string> copies{"lull"};
  for (const nb::bytes& argument : arguments) copies.emplace_back(argument.c_str());
  std::vector<char*> pointers;
  for (std::string& copy : copies) pointers.push_back(copy.data());
  pointers.push_back(nullptr);  // as argv of main()
  const nb::gil_scoped_release released;
  return tools::run_program(static_cast<int>(copies.size()), pointers.data());
}

}  // namespace

void bind_command(nb::module_& m) {
  m.def("run_command", run_command, "arguments"_a,
        "Runs the command lull in this process, and returns its exit code.\n\n"
        "The arguments are bytes in the encoding of the file system, without the name of the "
        "program. No other thread of the process may handle SIGINT, SIGTERM and SIGHUP.");
}

}  // namespace lull::python
