#include "core/error.h"
#include "cuda/samples/arrays.h"

namespace lull::cuda {
namespace {

[[noreturn]] void refuse_arrays() {
  throw DeviceUnavailable("no cuda backend (lull was built without CUDA); choose the device cpu");
}

}  // namespace

void array_to_samples(const ArrayPicture&, const FrameFormat&, const DevicePlanes&) {
  refuse_arrays();
}
void samples_to_array(const DevicePicture&, const FrameFormat&, const ArrayPicture&,
                      const ArrayPicture&) {
  refuse_arrays();
}
void gather(const NumberGrid&, int, std::int64_t, void*, int) { refuse_arrays(); }
int max_u16(const NumberGrid&, int) { refuse_arrays(); }

}  // namespace lull::cuda
