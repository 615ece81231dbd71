#pragma once
// Smart pointers, exceptions and compatibility functions for FFmpeg.

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "core/error.h"
#include "core/frame.h"

namespace lull::io {

template <auto Release>
struct Releaser {  // for FFmpeg's functions that take the address of a pointer
  template <class T>
  void operator()(T* object) const noexcept {
    Release(&object);
  }
};

using FramePtr = std::unique_ptr<AVFrame, Releaser<av_frame_free>>;
using PacketPtr = std::unique_ptr<AVPacket, Releaser<av_packet_free>>;
using CodecPtr = std::unique_ptr<AVCodecContext, Releaser<avcodec_free_context>>;
using ParametersPtr = std::unique_ptr<AVCodecParameters, Releaser<avcodec_parameters_free>>;

template <class T>
T* non_null(T* object) {
  if (!object) throw std::bad_alloc();
  return object;
}
inline FramePtr make_frame() { return FramePtr(non_null(av_frame_alloc())); }

/// Returns a picture with uninitialised samples.
/// @throws BadData  FFmpeg does not support the size
inline FramePtr make_picture(AVPixelFormat format, int width, int height) {
  if (av_image_check_size(width, height, 0, nullptr) < 0)
    throw BadData("a picture of " + std::to_string(width) + "x" + std::to_string(height) +
                  " pixels (FFmpeg does not support this size); divide the picture");
  FramePtr picture = make_frame();
  picture->format = format;
  picture->width = width;
  picture->height = height;
  if (av_frame_get_buffer(picture.get(), 0) < 0) throw std::bad_alloc();
  return picture;
}

inline PacketPtr make_packet() { return PacketPtr(non_null(av_packet_alloc())); }

/// Returns a packet with a copy of the bytes.
/// @throws BadData  the bytes exceed the size of a packet
inline PacketPtr packet_of(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > std::numeric_limits<int>::max() - AV_INPUT_BUFFER_PADDING_SIZE)
    throw BadData("a picture of more than 2 GiB (FFmpeg does not support it); divide the picture");
  PacketPtr packet = make_packet();
  if (av_new_packet(packet.get(), static_cast<int>(bytes.size())) < 0) throw std::bad_alloc();
  std::ranges::copy(bytes, packet->data);
  return packet;
}

/// Copies timestamps, stream index and flags from the packet `source` to the converted packet
/// `packet`, and marks `packet` as a keyframe.
inline void set_converted_from(const AVPacket& source, AVPacket& packet) {
  packet.pts = source.pts;
  packet.dts = source.dts;
  packet.duration = source.duration;
  packet.flags = source.flags | AV_PKT_FLAG_KEY;
  packet.stream_index = source.stream_index;
}

/// Owns an AVDictionary.
class Dictionary {
 public:
  Dictionary() = default;
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;
  ~Dictionary() { av_dict_free(&entries_); }
  void set(const std::string& key, const std::string& value) {
    av_dict_set(&entries_, key.c_str(), value.c_str(), 0);
  }
  bool has(const char* key) const { return av_dict_get(entries_, key, nullptr, 0) != nullptr; }
  std::string get(const char* key) const {
    const AVDictionaryEntry* entry = av_dict_get(entries_, key, nullptr, 0);
    return entry ? entry->value : "";
  }
  /// Returns the key of the first entry; empty if there is none. FFmpeg removes known options from
  /// a dictionary, so a key that remains is an unknown option.
  std::string first_key() const {
    const AVDictionaryEntry* entry = av_dict_get(entries_, "", nullptr, AV_DICT_IGNORE_SUFFIX);
    return entry ? entry->key : "";
  }
  void clear() { av_dict_free(&entries_); }
  AVDictionary** address() { return &entries_; }

 private:
  AVDictionary* entries_ = nullptr;
};

/// Returns FFmpeg's message for the error code `code`.
std::string error_text(int code);

/// Returns `code` if it is not negative, or else throws E with the message "<problem> (<FFmpeg's
/// reason>)".
/// @throws E
template <class E>
int check(int code, const std::string& problem) {
  if (code < 0) throw E(problem + " (" + error_text(code) + ")");
  return code;
}

inline Rational to_rational(AVRational r) { return {r.num, r.den}; }
inline AVRational to_av(const Rational& r) {
  return {static_cast<int>(r.num), static_cast<int>(r.den)};
}

// Compatibility functions for several versions of FFmpeg. FFmpeg 5.1 (Debian 12) has only the old
// fields and functions. FFmpeg 7 has only the new ones.

inline std::int64_t frame_duration(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
  return frame.duration;
#else
  return frame.pkt_duration;
#endif
}

inline void set_frame_duration(AVFrame& frame, std::int64_t duration) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
  frame.duration = duration;
#else
  frame.pkt_duration = duration;
#endif
}

inline bool is_interlaced(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  return (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  return frame.interlaced_frame != 0;
#endif
}

inline void set_interlaced(AVFrame& frame, bool top_first) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  frame.flags |= AV_FRAME_FLAG_INTERLACED;
  if (top_first) frame.flags |= AV_FRAME_FLAG_TOP_FIELD_FIRST;
#else
  frame.interlaced_frame = 1;
  frame.top_field_first = top_first;
#endif
}

inline bool top_field_first(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  return (frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
  return frame.top_field_first != 0;
#endif
}

/// Returns whether players show the top field first. FFmpeg's description of AV_FIELD_TB and
/// AV_FIELD_BT differs from their use: Matroska, QuickTime and FFmpeg's decoders state the order of
/// display with these values.
inline bool top_field_first(AVFieldOrder order) {
  return order == AV_FIELD_TT || order == AV_FIELD_TB;
}

/// Returns the side data of type `type` of a stream, such as the rotation; empty if there are none.
inline std::span<const std::uint8_t> stream_data(const AVStream& stream,
                                                 AVPacketSideDataType type) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  const AVPacketSideData* all = stream.codecpar->coded_side_data;
  const int count = stream.codecpar->nb_coded_side_data;
#else
  const AVPacketSideData* all = stream.side_data;
  const int count = stream.nb_side_data;
#endif
  for (int i = 0; i < count; ++i)
    if (all[i].type == type) return {all[i].data, all[i].size};
  return {};
}

inline void add_stream_data(AVStream& to, AVPacketSideDataType type,
                            std::span<const std::uint8_t> data) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  AVPacketSideData* copy = av_packet_side_data_new(
      &to.codecpar->coded_side_data, &to.codecpar->nb_coded_side_data, type, data.size(), 0);
  std::ranges::copy(data, non_null(copy)->data);
#else
  std::ranges::copy(data, non_null(av_stream_new_side_data(&to, type, data.size())));
#endif
}

/// Copies all side data from the input stream `from` to the output stream `to`.
inline void copy_side_data(const AVStream& from, AVStream& to) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  for (int i = 0; i < from.codecpar->nb_coded_side_data; ++i) {
    const AVPacketSideData& data = from.codecpar->coded_side_data[i];
    add_stream_data(to, data.type, {data.data, data.size});
  }
#else
  for (int i = 0; i < from.nb_side_data; ++i)
    add_stream_data(to, from.side_data[i].type, {from.side_data[i].data, from.side_data[i].size});
#endif
}

}  // namespace lull::io
