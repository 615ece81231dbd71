#pragma once
// An array in GPU memory. lull returns a result in this class if it does not support the array
// library of the input.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lull::python {

using HostBytes = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;
using WritableHostBytes = nanobind::ndarray<nanobind::c_contig, nanobind::device::cpu>;

using Lengths = std::vector<std::int64_t>;

/// Returns the maximum of an array of 16-bit integers in GPU memory. The strides are in bytes. The
/// caller must not hold the GIL.
[[nodiscard]] int max_u16(std::uintptr_t address, const Lengths& shape, const Lengths& strides,
                          int device);

/// A contiguous array in GPU memory, in C order.
class DeviceArray {
 public:
  /// Returns an uninitialised array. `typestr` is a type string of numpy, for example "<f4".
  /// @throws InvalidArgument, DeviceUnavailable, OutOfDeviceMemory
  static DeviceArray empty(const Lengths& shape, const std::string& typestr, int device);
  /// Copies every `step`-th element, in C order, of an array in GPU memory with at most five axes.
  static DeviceArray gathered(std::uintptr_t address, const Lengths& shape, const Lengths& strides,
                              std::int64_t step, const std::string& typestr, int device);
  /// Copies `array`, which has the same size in bytes, into this array. The caller must not hold
  /// the GIL.
  void set(const HostBytes& array);
  void get_into(const WritableHostBytes& array) const;

  const Lengths& shape() const { return shape_; }
  const std::string& typestr() const { return typestr_; }
  int device() const { return device_; }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory_.get()); }
  /// Returns a DLPack object that keeps the memory alive.
  /// @throws nanobind::buffer_error  the elements are not numbers, or are big-endian
  nanobind::object exported() const;

 private:
  void check_bytes(std::size_t bytes) const;

  Lengths shape_;
  std::string typestr_;
  int device_ = 0;
  std::size_t bytes_ = 0;
  std::shared_ptr<void> memory_;
};

}  // namespace lull::python
