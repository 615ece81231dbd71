// Fuzzes a NIfTI file, compressed or not. The file is read along each axis and written in each data
// type.

#include "fuzz/fuzz.h"
#include "io/stacks/stack.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  const fuzz::MemoryFile file(data, size);
  (void)io::stack_kind(file.path(), {});
  const auto axis = static_cast<io::Axis>(size % 3);
  const auto type = static_cast<io::DataType>(size / 3 % 3);
  fuzz::copy_some([&] { return io::open_nifti_source(file.path(), {.axis = axis}); },
                  [&](io::MediaSource& source) {
                    return io::open_nifti_sink(fuzz::output_name(size % 2 ? ".nii" : ".nii.gz"),
                                               source, {.datatype = type});
                  },
                  16);
  return 0;
}
