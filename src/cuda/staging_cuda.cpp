#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>

#include "core/round_up.h"
#include "cuda/handles.h"
#include "cuda/pinned_memory.h"
#include "cuda/staging.h"

namespace lull::cuda {
namespace {

/// Minimum size in bytes of a plane that several threads copy. Smaller copies take less time than
/// the start of threads.
constexpr std::size_t min_plane_bytes = 256 * 1024;
/// Size of a piece of a plane, in bytes: large enough for the copy engine of the GPU, small enough
/// for the caches of the CPU.
constexpr std::size_t buffer_bytes = 4 * 1024 * 1024;
constexpr std::size_t row_alignment = 64;
/// Maximum number of threads. A few cores saturate the memory bandwidth of one socket.
constexpr int max_threads = 8;

/// Returns whether `host` is pageable, neither allocated nor locked by the CUDA runtime.
bool is_pageable(const void* host) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, host) == cudaSuccess)
    return attributes.type == cudaMemoryTypeUnregistered;
  // CUDA runtimes before version 11 report an error for pageable memory. The function therefore
  // interprets every error as pageable memory. If the cause is a failure of the device, the next
  // copy reports it.
  (void)cudaGetLastError();
  return true;
}

void copy_rows(PlaneView<const std::byte> from, PlaneView<std::byte> to) {
  const std::size_t bytes = static_cast<std::size_t>(from.width) * from.height;
  constexpr std::size_t worth_a_thread = 128 * 1024;
  const auto bands = static_cast<int>(
      std::clamp<std::size_t>(bytes / worth_a_thread, 1, std::min(max_threads, from.height)));
  const auto begin = [&](int band) {
    return static_cast<int>(static_cast<std::int64_t>(from.height) * band / bands);
  };
  tbb::parallel_for(
      0, bands,
      [&](int band) {
        for (int y = begin(band); y < begin(band + 1); ++y)
          std::memcpy(to.row(y), from.row(y), static_cast<std::size_t>(from.width));
      },
      tbb::simple_partitioner());
}

template <class T>
PlaneView<T> rows_of(PlaneView<T> plane, int first, int count) {
  return {plane.row(first), plane.width, count, plane.stride};
}

/// The division of a plane into pieces with equal numbers of rows.
struct Pieces {
  int height, rows;
  Pieces(int all, std::size_t row) : height(all), rows(all) {
    const int fit = static_cast<int>(buffer_bytes / row);
    const int pieces = (all + fit - 1) / fit;
    rows = (all + pieces - 1) / pieces;
  }
  int count() const { return (height + rows - 1) / rows; }
  int first(int piece) const { return piece * rows; }
  int rows_of(int piece) const { return std::min(rows, height - first(piece)); }
};

std::size_t row_in_buffer(std::size_t row) { return round_up(row, row_alignment); }

}  // namespace

/// The two page-locked buffers. The CPU fills one buffer while the GPU copies the other buffer.
class Staging::Buffers {
 public:
  /// @throws std::bad_alloc
  Buffers() {
    for (Buffer& buffer : buffers_) {
      buffer.copied = make_event();
      buffer.data.reset(static_cast<std::byte*>(pinned_memory()->allocate(buffer_bytes)));
    }
  }
  ~Buffers() {
    for (const Buffer& buffer : buffers_) (void)cudaEventSynchronize(buffer.copied.get());
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  void upload(PlaneView<const std::byte> from, std::byte* to, std::size_t pitch,
              cudaStream_t stream) {
    const std::size_t row = row_in_buffer(from.width);
    const Pieces pieces(from.height, row);
    for (int i = 0; i < pieces.count(); ++i) {
      const int rows = pieces.rows_of(i);
      const Buffer& buffer = next();
      copy_rows(rows_of(from, pieces.first(i), rows), buffer.plane(from.width, rows, row));
      check(cudaMemcpy2DAsync(to + pieces.first(i) * pitch, pitch, buffer.data.get(), row,
                              from.width, rows, cudaMemcpyHostToDevice, stream));
      check(cudaEventRecord(buffer.copied.get(), stream));
    }
  }

  void download(const std::byte* from, std::size_t pitch, PlaneView<std::byte> to,
                cudaStream_t stream) {
    const std::size_t row = row_in_buffer(to.width);
    const Pieces pieces(to.height, row);
    std::array<const Buffer*, 2> buffer_of{};
    const auto queue = [&](int i) {
      const Buffer& buffer = *(buffer_of[i % 2] = &next());
      check(cudaMemcpy2DAsync(buffer.data.get(), row, from + pieces.first(i) * pitch, pitch,
                              to.width, pieces.rows_of(i), cudaMemcpyDeviceToHost, stream));
      check(cudaEventRecord(buffer.copied.get(), stream));
    };
    queue(0);
    for (int i = 0; i < pieces.count(); ++i) {
      if (i + 1 < pieces.count()) queue(i + 1);
      const Buffer& buffer = *buffer_of[i % 2];
      check(cudaEventSynchronize(buffer.copied.get()));
      const int rows = pieces.rows_of(i);
      copy_rows(buffer.plane(to.width, rows, row), rows_of(to, pieces.first(i), rows));
    }
  }

 private:
  struct GiveBack {
    void operator()(std::byte* data) const { pinned_memory()->deallocate(data, buffer_bytes); }
  };
  struct Buffer {
    Event copied;
    std::unique_ptr<std::byte, GiveBack> data;
    PlaneView<std::byte> plane(int width, int rows, std::size_t row) const {
      return {data.get(), width, rows, static_cast<std::ptrdiff_t>(row)};
    }
  };

  /// Waits until the less recently used buffer is free, and returns this buffer.
  const Buffer& next() {
    current_ ^= 1;
    check(cudaEventSynchronize(buffers_[current_].copied.get()));
    return buffers_[current_];
  }

  std::array<Buffer, 2> buffers_;
  int current_ = 0;
};

Staging::Staging() = default;
Staging::~Staging() = default;
Staging::Staging(Staging&&) noexcept = default;
Staging& Staging::operator=(Staging&&) noexcept = default;

bool Staging::needs_staging(const void* host, std::size_t row, int rows) {
  if (row * rows < min_plane_bytes || row_in_buffer(row) > buffer_bytes || allocation_failed_ ||
      !is_pageable(host))
    return false;
  try {
    if (!buffers_) buffers_ = std::make_unique<Buffers>();
  } catch (const std::bad_alloc&) {
    allocation_failed_ = true;
  }
  return !allocation_failed_;
}

void Staging::upload(PlaneView<const std::byte> from, void* to, std::size_t pitch,
                     cudaStream_t stream) {
  if (needs_staging(from.data, from.width, from.height))
    return buffers_->upload(from, static_cast<std::byte*>(to), pitch, stream);
  check(cudaMemcpy2DAsync(to, pitch, from.data, from.stride, from.width, from.height,
                          cudaMemcpyHostToDevice, stream));
}

void Staging::download(const void* from, std::size_t pitch, PlaneView<std::byte> to,
                       cudaStream_t stream) {
  if (needs_staging(to.data, to.width, to.height))
    return buffers_->download(static_cast<const std::byte*>(from), pitch, to, stream);
  check(cudaMemcpy2DAsync(to.data, to.stride, from, pitch, to.width, to.height,
                          cudaMemcpyDeviceToHost, stream));
}

}  // namespace lull::cuda
