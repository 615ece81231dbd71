#pragma once
// Lets Python code call the command `lull` as a function.

#include <nanobind/nanobind.h>

namespace lull::python {

/// Adds the function `run_command` to the module.
void bind_command(nanobind::module_& m);

}  // namespace lull::python
