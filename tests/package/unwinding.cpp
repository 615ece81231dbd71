// The portable build replaces functions of newer versions of glibc (packaging/portable). With these
// replacements exceptions must still reach their handlers, also through another thread, and
// std::random_device must deliver values.

#include <cstdio>
#include <random>
#include <stdexcept>
#include <thread>

namespace {

[[noreturn]] void fail(int depth) {
  if (depth > 0) fail(depth - 1);
  throw std::runtime_error("planned");
}

bool is_caught() {
  try {
    fail(20);
  } catch (const std::runtime_error&) {
    return true;
  }
}

}  // namespace

int main() {
  bool in_thread = false;
  std::thread([&in_thread] { in_thread = is_caught(); }).join();
  std::random_device device;
  unsigned differing = device() ^ device();
  for (int i = 0; i < 8 && differing == 0; ++i) differing = device() ^ device();
  std::printf("%d %d %d\n", is_caught(), in_thread, differing != 0);
  return is_caught() && in_thread && differing != 0 ? 0 : 1;
}
