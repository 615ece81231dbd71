// Tests reading the files of a segmented job: a file is accepted only if it is complete.

#include "io/segments/manifest.h"

#include <gtest/gtest.h>

#include <random>

#include "core/error.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

Manifest sample() {
  Manifest manifest;
  manifest.facts = {{"a name", "100% \n\t\xff"}, {"--vopts", ""}};
  manifest.threads = 3;
  manifest.segments[0] = {250, 1234567890123, std::string(64, 'a')};
  manifest.segments[7] = {1, 0, std::string(64, '0')};
  manifest.result = {1, 2, 1800000000000000000u};
  return manifest;
}

TEST(Manifests, SurviveWritingAndParsing) {
  const std::optional<Manifest> back = parse_manifest(to_text(sample()));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_text(*back), to_text(sample()));
  EXPECT_EQ(back->facts[0].value, "100% \n\t\xff");
  EXPECT_EQ(back->facts[1].value, "");
  EXPECT_EQ(back->segments.at(0).bytes, 1234567890123);
  EXPECT_EQ(back->result, sample().result);
}

TEST(Manifests, AreRejectedAfterAnyChange) {
  const std::string text = to_text(sample());
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(parse_manifest(text.substr(0, i))) << i;
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(parse_manifest(changed)) << i;
  }
  EXPECT_FALSE(parse_manifest(text + "\n"));
}

// A valid checksum does not prove that the contents make sense.
TEST(Manifests, AreRejectedIfInconsistentDespiteChecksum) {
  const auto with_checksum = [](const std::string& lines) {
    Sha256 digest;
    digest.add(lines.data(), lines.size());
    return lines + "sha256 " + digest.take() + "\n";
  };
  const std::string head = "lull job 1\n";
  EXPECT_TRUE(parse_manifest(with_checksum(head)));
  for (const std::string line :
       {"", "fact", "fact a", "fact a b c", "fact a %G0", "fact a %4", "segment 1 2 3", "threads x",
        "threads -1", "threads 99999999999", "segment -1 1 1 aa", "segment 1 1 1 aa ",
        "segment 1  1 1 aa", "result 1 2", "unknown 1", "sha256 1"})
    EXPECT_FALSE(parse_manifest(with_checksum(head + line + "\n"))) << line;
  EXPECT_FALSE(parse_manifest(with_checksum("lull job 2\n")));
  EXPECT_FALSE(parse_manifest(with_checksum("")));
  const std::string text = to_text(sample()), lines = text.substr(0, text.rfind("sha256"));
  std::mt19937 random(5);
  for (int i = 0; i < 3000; ++i) {
    std::string changed = lines;
    for (unsigned n = random() % 4; n < 4; ++n)
      changed[random() % changed.size()] =
          static_cast<char>(random() % 3 ? 32 + random() % 96 : 10);
    (void)parse_manifest(with_checksum(changed));
  }
}

// A valid checksum of a segment proves nothing either: for any bytes, reading must end, with an
// error unless the bytes are the recorded ones.
TEST(SegmentFiles, AreRejectedIfDamagedDespiteChecksum) {
  const TemporaryFolder folder;
  const std::string job(64, 'c');
  SegmentWriter writer(folder / "a", job);
  for (int i = 0; i < 5; ++i) {
    const PacketPtr packet = make_packet();
    ASSERT_EQ(av_new_packet(packet.get(), 20 * i), 0);
    std::fill_n(packet->data, 20 * i, static_cast<std::uint8_t>(i));
    packet->pts = 10 + i;
    packet->dts = i == 0 ? AV_NOPTS_VALUE : i;
    packet->duration = 1;
    packet->flags = i == 0 ? AV_PKT_FLAG_KEY : 0;
    std::uint8_t* side = av_packet_new_side_data(packet.get(), AV_PKT_DATA_NEW_EXTRADATA, 3);
    std::fill_n(side, 3, static_cast<std::uint8_t>(7 + i));
    writer.write(*packet);
  }
  const SegmentRecord record = writer.finish(5);
  EXPECT_EQ(record.frames, 5);
  EXPECT_EQ(read_record(folder / "a", job), record);
  EXPECT_FALSE(read_record(folder / "a", std::string(64, 'd')));
  EXPECT_FALSE(read_record(folder / "none", job));
  EXPECT_TRUE(is_whole(folder / "a", record));
  SegmentReader reader(folder / "a", record);
  for (int i = 0; i < 5; ++i) {
    const PacketPtr packet = reader.next();
    ASSERT_TRUE(packet);
    EXPECT_EQ(packet->size, 20 * i);
    EXPECT_EQ(packet->pts, 10 + i);
    EXPECT_EQ(packet->dts, i == 0 ? AV_NOPTS_VALUE : i);
    EXPECT_EQ(packet->flags, i == 0 ? AV_PKT_FLAG_KEY : 0);
    ASSERT_EQ(packet->side_data_elems, 1);
    EXPECT_EQ(packet->side_data[0].type, AV_PKT_DATA_NEW_EXTRADATA);
    EXPECT_EQ(packet->side_data[0].data[2], 7 + i);
  }
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.next());

  const std::vector<std::uint8_t> whole = read_file(folder / "a");
  const auto read_all = [&](const std::vector<std::uint8_t>& bytes) {
    write_file(folder / "b", bytes);
    EXPECT_FALSE(is_whole(folder / "b", record));
    SegmentReader damaged(folder / "b", record);
    while (damaged.next()) continue;
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::vector<std::uint8_t> changed = whole;
    changed[i] ^= 0x81;
    EXPECT_THROW(read_all(changed), IoError) << i;
    EXPECT_THROW(read_all({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)}),
                 IoError);
  }
}

}  // namespace
}  // namespace lull::io::test
