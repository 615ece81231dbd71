#pragma once
// Sums of group weights for one plane. A group adds its weight at the top-left sample of each of
// its patches.

// WeightSums stores sparse weights as lists of positions and values. When the lists exceed the
// memory of a plane, WeightSums converts them to a plane.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bm3d/cpu/kernels.h"
#include "core/image.h"

namespace lull::bm3d::cpu {

/// A part of a list of weights.
struct WeightChunk {
  Buffer<std::uint32_t> positions;  // y * stride + x
  Buffer<float> values;
  std::size_t count = 0;
};

/// Memory that all `WeightSums` objects of an engine share. `free` contains the chunks that no
/// object uses at present. WeightSums::view() writes the weights of a list to the buffer `plane`.
struct WeightMemory {
  std::vector<WeightChunk> free;
  Buffer<float> plane;
};

class WeightSums {
 public:
  WeightSums(int width, int height, std::ptrdiff_t stride, std::shared_ptr<WeightMemory> memory)
      : width_(width), height_(height), stride_(stride), memory_(std::move(memory)) {}

  /// Adds the weights of a tile with the top-left corner (x, y). The caller pads each row of the
  /// tile with zeros to a multiple of 16 samples.
  void add(PlaneView<const float> tile, int x, int y) {
    if (is_plane_) {
      PlaneView<float> plane = view_of(plane_);
      return add_rows(tile, {plane.row(y) + x, tile.width, tile.height, stride_});
    }
    for (int row = 0; row < tile.height; ++row) {
      WeightChunk& chunk = chunk_for(round_up(tile.width, 16));
      const std::size_t before = chunk.count;
      const auto first = static_cast<std::uint32_t>((y + row) * stride_ + x);
      chunk.count += list_weights({tile.row(row), static_cast<std::size_t>(tile.width)}, first,
                                  chunk.positions.data() + before, chunk.values.data() + before);
      listed_ += chunk.count - before;
    }
    if (listed_ > max_listed()) become_plane();
  }

  /// Returns the sums as a plane, preceded by `rows_of_zeros` rows of zeros. The plane is valid
  /// until the next view() of any object with the same WeightMemory.
  PlaneView<const float> view() {
    if (is_plane_) return view_of(plane_);
    expand(memory_->plane);
    return view_of(memory_->plane);
  }

  /// Sets all sums to zero.
  void clear() {
    if (is_plane_) std::fill_n(plane_.data(), size(), 0.0f);
    release();
  }

 private:
  static constexpr std::size_t min_chunk = 16384;
  // Returns the maximum number of list elements. An element takes the memory of two samples.
  std::size_t max_listed() const { return size() / 2; }
  std::size_t size() const { return static_cast<std::size_t>(stride_) * (height_ + rows_of_zeros); }

  PlaneView<float> view_of(Buffer<float>& plane) const {
    return {plane.data() + rows_of_zeros * stride_, width_, height_, stride_};
  }

  /// Returns the last chunk of the lists. If this chunk lacks space for `count` more elements, the
  /// function first appends another chunk.
  WeightChunk& chunk_for(std::size_t count) {
    const std::size_t capacity =
        std::max(min_chunk, static_cast<std::size_t>(round_up(width_, 16)));
    if (chunks_.empty() || chunks_.back().count + count > capacity) {
      WeightChunk chunk;
      if (!memory_->free.empty()) {
        chunk = std::move(memory_->free.back());
        memory_->free.pop_back();
      }
      chunk.positions.reserve(capacity);
      chunk.values.reserve(capacity);
      chunk.count = 0;
      chunks_.push_back(std::move(chunk));
    }
    return chunks_.back();
  }

  /// Expands the lists to a plane, in the order of add_rows(), so results do not depend on the
  /// storage of the weights.
  void expand(Buffer<float>& to) const {
    std::fill_n(to.reserve(size()), size(), 0.0f);
    float* const sums = view_of(to).data;
    for (const WeightChunk& chunk : chunks_)
      for (std::size_t i = 0; i < chunk.count; ++i)
        sums[chunk.positions.data()[i]] += chunk.values.data()[i];
  }

  void become_plane() {
    expand(plane_);
    is_plane_ = true;
    chunks_.clear();  // the sums of this plane are no longer lists
    listed_ = 0;
  }

  void release() {
    for (WeightChunk& chunk : chunks_) memory_->free.push_back(std::move(chunk));
    chunks_.clear();
    listed_ = 0;
  }

  int width_, height_;
  std::ptrdiff_t stride_;
  std::shared_ptr<WeightMemory> memory_;
  std::vector<WeightChunk> chunks_;
  std::size_t listed_ = 0;  // number of elements in all chunks
  bool is_plane_ = false;
  Buffer<float> plane_;
};

}  // namespace lull::bm3d::cpu
