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

/// Copies as many bytes as `to` has from an address of a GPU. Called without the interpreter's
/// lock.
void copy_from_device(const WritableHostBytes& to, std::uintptr_t address, int device);

/// C order, without gaps.
class DeviceArray {
 public:
  /// `typestr`: as of numpy's array interface, "<f4" say. @throws InvalidArgument,
  /// DeviceUnavailable, OutOfDeviceMemory
  static DeviceArray empty(const std::vector<std::int64_t>& shape, const std::string& typestr,
                           int device);
  /// Copies the samples of an array of as many bytes. Called without the interpreter's lock.
  void set(const HostBytes& array);
  void get_into(const WritableHostBytes& array) const;

  const std::vector<std::int64_t>& shape() const { return shape_; }
  const std::string& typestr() const { return typestr_; }
  int device() const { return device_; }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory_.get()); }
  /// An object that speaks DLPack and keeps the memory. @throws nanobind::buffer_error  samples of
  /// another order of bytes, or that are no numbers
  nanobind::object exported() const;

 private:
  void check_bytes(std::size_t bytes) const;

  std::vector<std::int64_t> shape_;
  std::string typestr_;
  int device_ = 0;
  std::size_t bytes_ = 0;
  std::shared_ptr<void> memory_;
};

}  // namespace lull::python
