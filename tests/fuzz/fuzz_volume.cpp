// Fuzzes a volume in another format than NIfTI: NRRD, MGH, or a pair, whose header of 348 bytes
// precedes its samples. The volume is written in each format.

#include <fstream>

#include "fuzz/fuzz.h"
#include "io/stacks/stack.h"

namespace {

void write_bytes(const std::string& path, const std::uint8_t* data, std::size_t size) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  const std::string stem = fuzz::output_name("-volume");
  constexpr std::size_t pair_head = 348;
  const bool is_nrrd = size > 4 && data[0] == 'N' && data[1] == 'R';
  const bool is_pair = !is_nrrd && size > pair_head && (data[0] == 0x5c || data[3] == 0x5c);
  const std::string path = stem + (is_nrrd ? ".nrrd" : is_pair ? ".hdr" : ".mgz");
  write_bytes(path, data, is_pair ? pair_head : size);
  if (is_pair) write_bytes(stem + ".img", data + pair_head, size - pair_head);
  constexpr const char* endings[] = {".nii", ".nrrd", ".mgh", ".mgz", ".nhdr", ".img"};
  const auto axis = static_cast<io::Axis>(size % 3);
  fuzz::copy_some(
      [&] { return io::open_source(path, {.limits = {.memory = 1 << 26}, .axis = axis}); },
      [&](io::MediaSource& source) {
        return io::open_nifti_sink(fuzz::output_name(endings[size % 6]), source, {});
      },
      16);
  std::filesystem::remove(path);
  std::filesystem::remove(stem + ".img");
  return 0;
}
