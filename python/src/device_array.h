#pragma once
// An array in the memory of a GPU, for results of arrays whose library is not known, and for
// programs without one.

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

/// Of 16-bit integers at an address of a GPU; strides in bytes. Called without the interpreter's
/// lock.
[[nodiscard]] int max_u16(std::uintptr_t address, const Lengths& shape, const Lengths& strides,
                          int device);

/// C order, without gaps.
class DeviceArray {
 public:
  /// `typestr`: as of numpy's array interface, "<f4" say. @throws InvalidArgument,
  /// DeviceUnavailable, OutOfDeviceMemory
  static DeviceArray empty(const Lengths& shape, const std::string& typestr, int device);
  /// Every `step`-th number of those at an address, in the order of their axes, five at most.
  static DeviceArray gathered(std::uintptr_t address, const Lengths& shape, const Lengths& strides,
                              std::int64_t step, const std::string& typestr, int device);
  /// Copies the samples of an array of as many bytes. Called without the interpreter's lock.
  void set(const HostBytes& array);
  void get_into(const WritableHostBytes& array) const;

  const Lengths& shape() const { return shape_; }
  const std::string& typestr() const { return typestr_; }
  int device() const { return device_; }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory_.get()); }
  /// An object that speaks DLPack and keeps the memory. @throws nanobind::buffer_error  samples of
  /// another order of bytes, or that are no numbers
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
