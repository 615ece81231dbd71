#include "pipeline/thread_name.h"

#include <pthread.h>

#include <cstring>

namespace lull::pipeline {

void name_this_thread(const std::string& name) noexcept {
#ifdef __linux__
  char text[16] = {};
  std::strncpy(text, name.c_str(), sizeof text - 1);
  pthread_setname_np(pthread_self(), text);
#else
  (void)name;
#endif
}

}  // namespace lull::pipeline
