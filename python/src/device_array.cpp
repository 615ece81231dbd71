#include "python/src/device_array.h"

#include <algorithm>

#include "core/error.h"
#include "cuda/results/result_frames.h"
#include "cuda/samples/arrays.h"

namespace lull::python {
namespace {

namespace nb = nanobind;

/// Returns the DLPack type of a `typestr` such as "<f4".
nb::dlpack::dtype dlpack_type(const std::string& typestr) {
  using Code = nb::dlpack::dtype_code;
  const auto type = [&](Code code) {
    return nb::dlpack::dtype{static_cast<std::uint8_t>(code),
                             static_cast<std::uint8_t>(8 * (typestr[2] - '0')), 1};
  };
  if (typestr[0] != '>' || typestr[2] == '1') {
    if (typestr[1] == 'f') return type(Code::Float);
    if (typestr[1] == 'i') return type(Code::Int);
    if (typestr[1] == 'u') return type(Code::UInt);
  }
  throw nb::buffer_error(("DLPack has no samples of type '" + typestr + "'").c_str());
}

/// Describes an array in GPU memory.
/// @throws InvalidArgument  the array has more than five axes
cuda::NumberGrid grid_of(std::uintptr_t address, const Lengths& shape, const Lengths& strides) {
  cuda::NumberGrid grid;
  if (shape.size() != strides.size() || shape.size() > grid.length.size())
    throw InvalidArgument("an array of " + std::to_string(shape.size()) +
                          " axes (must be five at most)");
  grid.data = reinterpret_cast<const std::byte*>(address);
  std::ranges::copy(shape, grid.length.end() - static_cast<std::ptrdiff_t>(shape.size()));
  std::ranges::copy(strides, grid.stride.end() - static_cast<std::ptrdiff_t>(shape.size()));
  return grid;
}

}  // namespace

int max_u16(std::uintptr_t address, const Lengths& shape, const Lengths& strides, int device) {
  return cuda::max_u16(grid_of(address, shape, strides), device);
}

DeviceArray DeviceArray::gathered(std::uintptr_t address, const Lengths& shape,
                                  const Lengths& strides, std::int64_t step,
                                  const std::string& typestr, int device) {
  const cuda::NumberGrid grid = grid_of(address, shape, strides);
  const std::int64_t numbers = (grid.size() + step - 1) / step;
  DeviceArray array = empty({numbers}, typestr, device);
  cuda::gather(grid, static_cast<int>(array.bytes_ / static_cast<std::size_t>(numbers)), step,
               array.memory_.get(), device);
  return array;
}

DeviceArray DeviceArray::empty(const Lengths& shape, const std::string& typestr, int device) {
  DeviceArray array;
  array.shape_ = shape;
  array.typestr_ = typestr;
  array.device_ = device;
  const char size = typestr.size() == 3 ? typestr[2] : '0';
  if (size != '1' && size != '2' && size != '4' && size != '8')
    throw InvalidArgument("samples of type '" + typestr +
                          "' (must be for example '<f4'); choose another");
  array.bytes_ = static_cast<std::size_t>(size - '0');
  for (const std::int64_t length : shape) {
    if (length < 1) throw InvalidArgument("an empty array has no memory on a GPU");
    array.bytes_ *= static_cast<std::size_t>(length);
  }
  std::pmr::memory_resource* memory = cuda::device_memory(device);
  array.memory_ = std::shared_ptr<void>(
      memory->allocate(array.bytes_),
      [memory, bytes = array.bytes_](void* data) { memory->deallocate(data, bytes); });
  return array;
}

void DeviceArray::check_bytes(std::size_t bytes) const {
  if (bytes != bytes_)
    throw InvalidArgument("an array of " + std::to_string(bytes) +
                          " bytes (the array on the GPU has " + std::to_string(bytes_) +
                          "); give one of the same shape and type");
}

nb::object DeviceArray::exported() const {
  const nb::dlpack::dtype type = dlpack_type(typestr_);
  const nb::capsule owner(new std::shared_ptr<void>(memory_), [](void* memory) noexcept {
    delete static_cast<std::shared_ptr<void>*>(memory);
  });
  const std::vector<std::size_t> shape(shape_.begin(), shape_.end());
  return nb::cast(nb::ndarray<nb::array_api>(memory_.get(), shape.size(), shape.data(), owner,
                                             nullptr, type, nb::device::cuda::value, device_));
}

void DeviceArray::set(const HostBytes& array) {
  check_bytes(array.nbytes());
  cuda::copy_bytes(memory_.get(), array.data(), bytes_, device_);
}

void DeviceArray::get_into(const WritableHostBytes& array) const {
  check_bytes(array.nbytes());
  cuda::copy_bytes(array.data(), memory_.get(), bytes_, device_);
}

}  // namespace lull::python
