#pragma once
// Defines arrays in GPU memory. A session returns its results in a `DeviceArray` if lull does not
// support the array library of the input.

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

/// Returns the maximum of an array of 16-bit integers in GPU memory. Strides are in bytes. The
/// caller must have released the GIL.
[[nodiscard]] int max_u16(std::uintptr_t address, const Lengths& shape, const Lengths& strides,
                          int device);

/// A contiguous array in GPU memory, in C order.
class DeviceArray {
 public:
  /// Returns an array whose elements are not initialised. `typestr` has the form of numpy's array
  /// interface, for example "<f4".
  /// @throws InvalidArgument, DeviceUnavailable, OutOfDeviceMemory
  static DeviceArray empty(const Lengths& shape, const std::string& typestr, int device);
  /// Returns a new array with every `step`-th element, in C order, of an array in GPU memory. The
  /// source has at most five axes.
  static DeviceArray gathered(std::uintptr_t address, const Lengths& shape, const Lengths& strides,
                              std::int64_t step, const std::string& typestr, int device);
  /// Copies the bytes of `array` into this array. The two arrays must have the same size in bytes.
  /// The caller must have released the GIL.
  void set(const HostBytes& array);
  void get_into(const WritableHostBytes& array) const;

  const Lengths& shape() const { return shape_; }
  const std::string& typestr() const { return typestr_; }
  int device() const { return device_; }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory_.get()); }
  /// Returns an object that supports DLPack and keeps the memory alive.
  /// @throws nanobind::buffer_error  the elements are not numbers, or their bytes are in big-endian
  ///     order
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
