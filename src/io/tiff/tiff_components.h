#pragma once
// Accesses single components of FFmpeg's pictures.

#include <cstdint>
#include <cstring>
#include <span>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// One component of a picture, such as red or alpha, in native byte order.
class PictureComponent {
 public:
  PictureComponent(const AVFrame& picture, int component)
      : PictureComponent(
            picture,
            av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format))->comp[component]) {}

  int step() const { return step_; }
  /// Returns the address of a sample.
  std::uint8_t* at(int x, int y) const {
    return data_ + std::ptrdiff_t{y} * stride_ + std::ptrdiff_t{x} * step_;
  }
  template <class T>
  void put(int x, int y, std::span<const T> from) const {
    std::uint8_t* to = at(x, y);
    for (const T value : from) {
      std::memcpy(to, &value, sizeof value);
      to += step_;
    }
  }
  template <class T>
  void get(int x, int y, std::span<T> to) const {
    const std::uint8_t* from = at(x, y);
    for (T& value : to) {
      std::memcpy(&value, from, sizeof value);
      from += step_;
    }
  }

 private:
  PictureComponent(const AVFrame& picture, const AVComponentDescriptor& c)
      : data_(picture.data[c.plane] + c.offset),
        stride_(picture.linesize[c.plane]),
        step_(c.step) {}

  std::uint8_t* data_;
  std::ptrdiff_t stride_;
  int step_;
};

}  // namespace lull::io
