#include "tools/report/exit_code.h"

#include <exception>
#include <new>

namespace lull::tools {

Failure current_failure() {
  const int internal = exit_code(ErrorKind::internal);
  try {
    throw;
  } catch (const Error& e) {
    return {exit_code(e.kind()), e.what()};
  } catch (const std::bad_alloc&) {
    return {exit_code(ErrorKind::out_of_memory),
            "out of memory (an allocation failed); try a smaller --batch or input"};
  } catch (const std::exception& e) {
    return {internal, "internal error (" + std::string(e.what()) + "); please report it"};
  } catch (...) {
    return {internal, "internal error (an exception of unknown type); please report it"};
  }
}

}  // namespace lull::tools
