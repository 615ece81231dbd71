// Fuzzes DICOM: a file, or a folder of up to 4 files. The input for a folder begins with the number
// of files and the size of each file (2 bytes each, little-endian). The samples are written as
// DICOM and as NIfTI.

#include <algorithm>
#include <fstream>
#include <span>

#include "fuzz/fuzz.h"

namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const std::uint8_t>;

void write_bytes(const std::string& path, Bytes bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

/// Writes the files of an input. Returns the path of the file, or of the folder of the files.
std::string write_series(const std::string& folder, Bytes bytes) {
  constexpr std::size_t most_files = 4, signature = 128;
  const bool is_file = bytes.size() <= signature || bytes[signature] == 'D' || bytes[0] == 0 ||
                       bytes[0] > most_files;
  if (is_file) {
    write_bytes(folder + "/a.dcm", bytes);
    return folder + "/a.dcm";
  }
  const std::size_t count = bytes[0];
  Bytes files = bytes.subspan(1 + 2 * count);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t size = bytes[1 + 2 * n] + std::size_t{256} * bytes[2 + 2 * n];
    const std::size_t part = std::min(size, files.size());
    write_bytes(folder + "/" + std::to_string(n) + ".dcm", files.first(part));
    files = files.subspan(part);
  }
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  const std::string folder = fuzz::output_name("-dicom");
  fs::create_directory(folder);
  const std::string path = write_series(folder, {data, size});
  const auto axis = static_cast<io::Axis>(size % 3);
  for (const char* const output : {"-out/", ".nii"})
    fuzz::copy_some(
        [&] { return io::open_source(path, {.limits = {.memory = 1 << 26}, .axis = axis}); },
        [&](io::MediaSource& source) {
          return io::open_sink(fuzz::output_name(output), source, {});
        },
        16);
  fs::remove_all(folder);
  return 0;
}
