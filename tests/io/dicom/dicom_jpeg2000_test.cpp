// Tests DICOM images whose samples have JPEG 2000 compression.

#include <gmock/gmock.h>

#include <random>

#include "io/dicom/dicom_series.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io::test {
namespace {

using testing::HasSubstr;

constexpr const char* const lossless = "1.2.840.10008.1.2.4.90";
constexpr const char* const lossy = "1.2.840.10008.1.2.4.91";
constexpr std::size_t width_at = 8, capabilities_at = 6, tile_width_at = 24, components_at = 40,
                      depth_at = 42;  // positions in a codestream

// A picture of 32x32 signed samples of 12 bits that OpenJPEG 2.5 encoded without loss.
constexpr std::uint8_t of_openjpeg[] = {
    0xff, 0x4f, 0xff, 0x51, 0x00, 0x29, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x20,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x20,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x8b, 0x01, 0x01, 0xff, 0x52, 0x00,
    0x0c, 0x00, 0x00, 0x00, 0x01, 0x00, 0x05, 0x04, 0x04, 0x00, 0x01, 0xff, 0x5c, 0x00, 0x13, 0x40,
    0x60, 0x68, 0x68, 0x70, 0x68, 0x68, 0x70, 0x68, 0x68, 0x70, 0x68, 0x68, 0x70, 0x68, 0x68, 0x70,
    0xff, 0x90, 0x00, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0xb9, 0x00, 0x01, 0xff, 0x93, 0xc7, 0xec,
    0x04, 0x09, 0x7c, 0xcf, 0xf0, 0x05, 0x03, 0xf0, 0x02, 0x80, 0x01, 0x08, 0x04, 0x7f, 0x04, 0xbf,
    0x03, 0xc7, 0xf2, 0x0b, 0x01, 0xf6, 0x82, 0x80, 0x0d, 0x03, 0x00, 0x51, 0x7f, 0x0b, 0x3d, 0xe7,
    0x64, 0xcf, 0xc3, 0xf6, 0x08, 0x80, 0x3e, 0x70, 0xf0, 0x00, 0x22, 0x22, 0x1a, 0x10, 0x5c, 0xac,
    0xbe, 0x3a, 0xaf, 0x11, 0x1d, 0xf6, 0x8c, 0x1c, 0xb2, 0xe0, 0x12, 0x7f, 0xc1, 0xf9, 0x87, 0x40,
    0x3e, 0xa1, 0x88, 0x00, 0xf9, 0x02, 0x00, 0x36, 0xa1, 0x99, 0xcb, 0xf5, 0x39, 0x60, 0x0c, 0x47,
    0x9d, 0x0a, 0x38, 0x52, 0xe1, 0x0c, 0x22, 0x65, 0xb9, 0x8d, 0x7e, 0x8a, 0xde, 0xf7, 0xa6, 0x68,
    0x51, 0x18, 0x9b, 0x60, 0x44, 0x42, 0x95, 0x66, 0x3f, 0xdd, 0x0c, 0x6d, 0x6f, 0x61, 0xf0, 0x81,
    0xaf, 0xc0, 0xfc, 0x04, 0x60, 0x1f, 0x50, 0xbc, 0x07, 0xe0, 0x0c, 0xad, 0xaf, 0x62, 0xb9, 0xb9,
    0x11, 0xe2, 0x3a, 0xe3, 0x6f, 0x46, 0x06, 0xce, 0x92, 0xc2, 0x8c, 0x7f, 0xad, 0xb1, 0x32, 0xf2,
    0x63, 0x4b, 0xe6, 0x9c, 0x9f, 0x50, 0x3a, 0x98, 0x1f, 0x5a, 0xb0, 0x19, 0x00, 0x00, 0x00, 0x00,
    0xc2, 0x41, 0x5f, 0xad, 0xb2, 0x81, 0xa1, 0x89, 0xcf, 0xff, 0xd9,
};

std::vector<double> samples_of_openjpeg() {
  std::vector<double> samples;
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 32; ++x) samples.push_back((x - 16) * 120 + (y / 8 - 2) * 60);
  samples.front() = -2048;
  samples.back() = 2047;
  return samples;
}

/// Encodes grey samples of 16 bits without loss, with FFmpeg.
File encode(const std::vector<std::uint16_t>& samples, int columns, int rows) {
  const AVCodec* const codec = avcodec_find_encoder_by_name("jpeg2000");
  CodecPtr encoder(avcodec_alloc_context3(codec));
  encoder->pix_fmt = AV_PIX_FMT_GRAY16LE;
  encoder->width = columns;
  encoder->height = rows;
  encoder->time_base = {1, 25};
  av_opt_set(encoder->priv_data, "pred", "dwt53", 0);
  av_opt_set(encoder->priv_data, "format", "j2k", 0);
  EXPECT_GE(avcodec_open2(encoder.get(), codec, nullptr), 0);
  const FramePtr frame = make_frame();
  frame->format = encoder->pix_fmt;
  frame->width = columns;
  frame->height = rows;
  frame->pts = 0;
  EXPECT_GE(av_frame_get_buffer(frame.get(), 0), 0);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      const std::uint16_t value = samples[static_cast<std::size_t>(y * columns + x)];
      std::uint8_t* const to = frame->data[0] + y * frame->linesize[0] + 2 * x;
      to[0] = static_cast<std::uint8_t>(value);
      to[1] = static_cast<std::uint8_t>(value >> 8);
    }
  const PacketPtr packet = make_packet();
  EXPECT_GE(avcodec_send_frame(encoder.get(), frame.get()), 0);
  EXPECT_GE(avcodec_send_frame(encoder.get(), nullptr), 0);
  EXPECT_GE(avcodec_receive_packet(encoder.get(), packet.get()), 0);
  File file(packet->data, packet->data + packet->size);
  if (file.size() % 2 != 0) file.push_back(0);
  return file;
}

/// Encodes samples of `bits` bits. The number of bits and the sign in the header of a codestream
/// only determine what the decoder adds to the decoded samples, so that the function may replace
/// these parts of the header.
File encode(const std::vector<int>& samples, int bits, bool is_signed, int columns, int rows) {
  std::vector<std::uint16_t> shifted;
  const int half = is_signed ? 0 : 1 << (bits - 1);
  for (const int sample : samples)
    shifted.push_back(static_cast<std::uint16_t>(sample + 32768 - half));
  File file = encode(shifted, columns, rows);
  file[depth_at] = static_cast<std::uint8_t>((bits - 1) | (is_signed ? 0x80 : 0));
  return file;
}

File part(const File& file, std::size_t begin, std::size_t end) {
  return {file.begin() + static_cast<std::ptrdiff_t>(begin),
          file.begin() + static_cast<std::ptrdiff_t>(std::min(end, file.size()))};
}

class DicomJpeg2000 : public DicomTest {
 protected:
  static constexpr int columns = 20, rows = 12;

  static std::vector<int> random_samples(int bits, bool is_signed, unsigned seed) {
    std::mt19937 rng{seed};
    const int lowest = is_signed ? -(1 << (bits - 1)) : 0;
    std::vector<int> samples;
    for (int i = 0; i < columns * rows; ++i)
      samples.push_back(lowest + static_cast<int>(rng() % (1u << bits)));
    samples[0] = lowest;
    samples[1] = lowest + (1 << bits) - 1;
    return samples;
  }
  /// Writes an image whose frames have positions, and returns its path.
  std::string write(DicomSpec spec, std::vector<File> items, int frames = 1) const {
    spec.sop_class = "1.2.840.10008.5.1.4.1.1.2.1";
    spec.orientation = oblique;
    for (int f = 0; f < frames; ++f) spec.frame_positions.push_back(position_of(1.5 * f));
    spec.items = std::move(items);
    write_file(folder / "a.dcm", dicom_file(spec));
    return folder / "a.dcm";
  }
  DicomSpec spec_of(int bits, bool is_signed) const {
    DicomSpec spec{.syntax = lossless, .columns = columns, .rows = rows, .stored = bits};
    spec.allocated = bits <= 8 ? 8 : 16;
    spec.is_signed = is_signed;
    return spec;
  }
  static std::vector<double> joined(const std::vector<std::vector<int>>& frames) {
    std::vector<double> all;
    for (const auto& frame : frames) all.insert(all.end(), frame.begin(), frame.end());
    return all;
  }
};

TEST_F(DicomJpeg2000, AllDepthsAreDecoded) {
  for (int bits = 6; bits <= 16; ++bits)
    for (const bool is_signed : {false, true}) {
      SCOPED_TRACE(std::to_string(bits) + (is_signed ? " signed" : " unsigned"));
      const auto first = random_samples(bits, is_signed, 1),
                 second = random_samples(bits, is_signed, 2);
      const std::string path = write(spec_of(bits, is_signed),
                                     {{},
                                      encode(first, bits, is_signed, columns, rows),
                                      encode(second, bits, is_signed, columns, rows)},
                                     2);
      EXPECT_TRUE(values(path) == joined({first, second}));
    }
}

TEST_F(DicomJpeg2000, CodestreamsOfOpenJpegAreDecoded) {
  File codestream(std::begin(of_openjpeg), std::end(of_openjpeg));
  if (codestream.size() % 2 != 0) codestream.push_back(0);
  for (const char* syntax : {lossless, lossy}) {
    DicomSpec spec{.syntax = syntax, .columns = 32, .rows = 32, .stored = 12};
    const std::string path = write(spec, {{}, codestream});
    EXPECT_TRUE(values(path) == samples_of_openjpeg()) << syntax;
    const std::string out = folder / "out.dcm";
    std::filesystem::remove(out);
    convert(path, out);
    EXPECT_TRUE(values(out) == samples_of_openjpeg()) << syntax;
  }
}

TEST_F(DicomJpeg2000, FramesMayHaveSeveralFragments) {
  const auto first = random_samples(12, true, 1), second = random_samples(12, true, 2);
  const File a = encode(first, 12, true, columns, rows),
             b = encode(second, 12, true, columns, rows);
  const std::vector<File> fragments = {part(a, 0, 100), part(a, 100, 200), part(a, 200, a.size()),
                                       part(b, 0, 150), part(b, 150, b.size())};
  const auto with_table = [&](const std::vector<std::uint32_t>& offsets) {
    std::vector<File> items{{}};
    for (const std::uint32_t offset : offsets) put(items[0], items[0].size(), offset, false);
    items.insert(items.end(), fragments.begin(), fragments.end());
    return items;
  };
  const auto next = static_cast<std::uint32_t>(a.size() + 24);
  const DicomSpec spec = spec_of(12, true);
  for (const std::vector<std::uint32_t>& offsets : {std::vector{0u, next}, {}})
    EXPECT_TRUE(values(write(spec, with_table(offsets), 2)) == joined({first, second}));
  for (const std::vector<std::uint32_t>& offsets :
       {std::vector{0u}, {0u, next + 2}, {0u, next, next + 8}, {8u, next}})
    EXPECT_THAT(refusal(write(spec, with_table(offsets), 2)), HasSubstr("damaged fragments"));
  EXPECT_THAT(refusal(write(spec, with_table({}), 3)), HasSubstr("damaged fragments"));
  EXPECT_TRUE(values(write(spec, {{}, fragments[0], fragments[1], fragments[2]})) ==
              joined({first}));
}

TEST_F(DicomJpeg2000, SignOfTheHeaderCounts) {
  const auto samples = random_samples(12, true, 3);
  std::vector<int> bits_of_samples;
  for (const int sample : samples) bits_of_samples.push_back(sample & 0xfff);
  const File as_signed = encode(samples, 12, true, columns, rows),
             as_unsigned = encode(bits_of_samples, 12, false, columns, rows);
  for (const int stored : {12, 16}) {
    DicomSpec spec = spec_of(stored, true);
    EXPECT_TRUE(values(write(spec, {{}, as_unsigned})) == joined({samples})) << stored;
    spec.is_signed = false;
    EXPECT_TRUE(values(write(spec, {{}, as_signed})) == joined({bits_of_samples})) << stored;
  }
}

TEST_F(DicomJpeg2000, TruncatedCodestreamsAreRefused) {
  const File whole = encode(random_samples(12, true, 4), 12, true, columns, rows);
  for (std::size_t size = 2; size + 4 < whole.size(); size += 14)
    EXPECT_THAT(refusal(write(spec_of(12, true), {{}, part(whole, 0, size)})),
                HasSubstr("JPEG 2000: "))
        << size;
}

TEST_F(DicomJpeg2000, OtherCodestreamsAreRefused) {
  const File whole = encode(random_samples(12, true, 5), 12, true, columns, rows);
  const auto expect_refused = [&](std::size_t at, const File& bytes, const std::string& text) {
    File file = whole;
    std::ranges::copy(bytes, file.begin() + static_cast<std::ptrdiff_t>(at));
    EXPECT_THAT(refusal(write(spec_of(12, true), {{}, file})), HasSubstr(text)) << at;
  };
  expect_refused(0, {0, 0, 0, 12}, "no valid codestream");  // the signature of JP2 files
  expect_refused(capabilities_at, {0x40, 0}, "HTJ2K");
  expect_refused(width_at, {0, 0, 0, 21}, "contradicts the header");
  expect_refused(components_at, {0, 3}, "contradicts the header");
  expect_refused(depth_at, {16}, "contradicts the header");
  expect_refused(depth_at + 1, {2}, "no valid codestream");
  expect_refused(tile_width_at, {0, 0, 0, 0}, "no valid codestream");
  expect_refused(tile_width_at, {0, 0, 0, 10}, "truncated");
  DicomSpec large{.syntax = lossless, .columns = 300, .rows = 300, .stored = 12};
  File file(whole);
  std::ranges::copy(File{0, 0, 1, 44, 0, 0, 1, 44}, file.begin() + width_at);
  std::ranges::copy(File{0, 0, 0, 1, 0, 0, 0, 1}, file.begin() + tile_width_at);
  EXPECT_THAT(refusal(write(large, {{}, file})), HasSubstr("tiles"));
  DicomSpec high = spec_of(12, true);
  high.syntax = "1.2.840.10008.1.2.4.201";  // HTJ2K
  EXPECT_THAT(refusal(write(high, {{}, whole})), HasSubstr("1.2.840.10008.1.2.4.201"));
}

TEST_F(DicomJpeg2000, ChangedCodestreamsAreReadOrRefusedInOneLine) {
  const File whole = encode(random_samples(12, true, 6), 12, true, columns, rows);
  std::mt19937 rng{7};
  for (int i = 0; i < 150; ++i) {
    File file = whole;
    for (int n = 0; n < 2; ++n)
      file[rng() % (i % 2 ? 120 : file.size())] = static_cast<std::uint8_t>(rng());
    (void)refusal(write(spec_of(12, true), {{}, file}));
  }
}

}  // namespace
}  // namespace lull::io::test
