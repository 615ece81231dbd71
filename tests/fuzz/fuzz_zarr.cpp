// Fuzzes a Zarr store: the first line is the metadata of an array, the second line is the metadata
// of the group that contains the array, and all further bytes are the first chunk.

#include <fstream>
#include <string_view>
#include <vector>

#include "fuzz/fuzz.h"
#include "io/stacks/stack.h"
#include "io/zarr/zarr_array.h"

namespace {

void write_file(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Version 3 states the kind of each node.
bool is_version_3(std::string_view metadata) { return metadata.find("node_type") != metadata.npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  const std::string store = fuzz::output_name(".zarr"), array = store + "/0";
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view of_array = next_line(text), of_group = next_line(text);
  write_file(array + (is_version_3(of_array) ? "/zarr.json" : "/.zarray"), of_array);
  write_file(store + (is_version_3(of_group) ? "/zarr.json" : "/.zattrs"), of_group);
  fuzz::expect_errors([&] {
    const io::ZarrArray known = io::read_zarr_array(array);
    const std::vector<std::int64_t> first(known.shape.size());
    write_file(known.chunk_path(first), text);
  });
  const std::string output = fuzz::output_name(size % 2 ? "-out.zarr" : "-out.tif");
  fuzz::copy_some(
      [&] {
        return io::open_source(store,
                               {.limits = {.pixels = 1 << 16, .frames = 64, .memory = 1 << 22}});
      },
      [&](io::MediaSource& source) { return io::open_sink(output, source, {}); }, 16);
  std::filesystem::remove_all(store);
  return 0;
}
