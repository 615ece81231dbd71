// Fuzzes the C interface: a program of calls with arguments from the input. Every call must return
// a status; calls that fail must leave a text of one line. Structures and memory have the sizes
// that the header requires, because no library can check addresses.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "lull.h"

namespace {

/// The input as a sequence of numbers and texts; 0 and "" after its end.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  bool empty() const { return at_ == end_; }
  int byte() { return empty() ? 0 : *at_++; }
  std::string text() {
    const std::uint8_t* stop = std::find(at_, end_, '\n');
    const std::string text(at_, stop);
    at_ = stop == end_ ? end_ : stop + 1;
    return text;
  }

 private:
  const std::uint8_t *at_, *end_;
};

void check(lull_status status) {
  if (status >= LULL_OK) return;
  const std::string text = lull_last_error();
  if (status == LULL_INTERNAL || text.empty() || text.find('\n') != text.npos) std::abort();
}

/// The objects of a program; each may be missing.
struct Program {
  lull_format format{};
  lull_params* params = nullptr;
  lull_estimator* estimator = nullptr;
  lull_noise* noise = nullptr;
  lull_session* session = nullptr;
  int pushed = 0, released = 0;
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(1 << 16, 70);

  Program() {
    format.size = sizeof(format);
    format.width = format.height = 12;
    check(lull_params_new(&params));
    check(lull_params_set(params, "device", "cpu"));
    check(lull_params_set(params, "threads", "1"));
  }
  ~Program() {
    lull_session_close(session);
    lull_estimator_close(estimator);
    lull_noise_free(noise);
    lull_params_free(params);
    if (released != pushed) std::abort();  // each frame is released once
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
};

/// Returns a frame whose samples are in the memory of the program for every format that sessions
/// are opened with.
lull_frame frame_in(Program& program, Bytes& bytes) {
  lull_frame frame{};
  frame.size = sizeof(frame);
  const int choice = bytes.byte(), number = bytes.byte();
  for (int i = 0; i < 3; ++i) {
    const int gap = choice & 3;
    const std::ptrdiff_t sample = std::ptrdiff_t{4} + gap * 2, row = 24 * sample + gap;
    std::uint8_t* first = program.memory.data() + 2048 * 8 * i;
    frame.planes[i] = {first, row, (choice & 4) != 0 ? sample : 0};
    if ((choice & 8) != 0)
      frame.planes[i] = {first + 24 * row, -row, frame.planes[i].sample_stride};
    if ((choice & 16) != 0 && number % 3 == i) frame.planes[i].data = nullptr;
    if ((choice & 32) != 0) frame.planes[i].row_stride = number - 128;
  }
  if ((choice & 32) != 0)  // any stride of up to 128 bytes stays within the memory
    for (lull_plane& plane : frame.planes) plane.data = program.memory.data() + (1 << 15);
  frame.is_numbered = (choice & 64) != 0 ? 1 : 0;
  frame.number = number - 2;
  frame.memory = number == 255 ? LULL_DMA_BUF : number == 254 ? LULL_CUDA : LULL_HOST;
  frame.fd = choice % 2 == 0 ? -1 : 1000;
  if (number == 253) frame.size = static_cast<std::size_t>(choice);
  if ((choice & 128) != 0) {
    frame.release = [](void* count) { ++*static_cast<int*>(count); };
    frame.user = &program.released;
    if (frame.size == sizeof(frame)) ++program.pushed;
  }
  return frame;
}

void change_format(Program& program, Bytes& bytes) {
  lull_format& format = program.format;
  const int what = bytes.byte() % 10, value = bytes.byte();
  std::int32_t* members[] = {&format.layout,  &format.sample,  &format.bits,  &format.shift_x,
                             &format.shift_y, &format.content, &format.frames};
  if (what < 7) *members[what] = value < 250 ? value : 245 - value;
  if (what == 7) format.width = value % 25;
  if (what == 8) format.height = value % 25;
  if (what == 9) format.white = static_cast<float>(value - 3);
}

void step(Program& program, Bytes& bytes) {
  switch (bytes.byte() % 12) {
    case 0:
      return change_format(program, bytes);
    case 1: {
      const std::string name = bytes.text(), value = bytes.text();
      if (name == "device" || name == "threads") return;  // GPUs are slow to open
      return check(lull_params_set(program.params, name.c_str(), value.c_str()));
    }
    case 2:
      lull_session_close(program.session);
      return check(lull_session_open(&program.format, program.params, nullptr, &program.session));
    case 3:
    case 4: {
      const lull_frame frame = frame_in(program, bytes);
      return check(lull_push(program.session, &frame));
    }
    case 5: {
      lull_frame frame = frame_in(program, bytes);
      if (frame.release != nullptr && frame.size == sizeof(frame)) --program.pushed;
      return check(lull_next(program.session, &frame));
    }
    case 6: {
      lull_frame frame = frame_in(program, bytes);
      if (frame.release != nullptr && frame.size == sizeof(frame)) --program.pushed;
      return check(lull_drain(program.session, &frame));
    }
    case 7:
      lull_estimator_close(program.estimator);
      return check(lull_estimator_open(&program.format, program.params, &program.estimator));
    case 8: {
      const lull_frame frame = frame_in(program, bytes);
      return check(lull_estimator_add(program.estimator, &frame));
    }
    case 9:
      lull_noise_free(program.noise);
      return check(lull_estimator_find(program.estimator, &program.noise));
    case 10:
      return check(lull_params_set_noise(program.params, program.noise));
    case 11: {
      lull_session_info info{};
      info.size = static_cast<std::size_t>(bytes.byte()) % 2 == 0 ? sizeof(info) : 3;
      check(lull_session_get(program.session, &info));
      return check(bytes.byte() == 1 ? lull_cancel(program.session) : LULL_OK);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  Program program;
  constexpr int most = 24;  // calls
  for (int i = 0; i < most && !bytes.empty(); ++i) step(program, bytes);
  return 0;
}
