#include "io/raw/tiff_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lull::io {
namespace {

TiffTree make_tree(bool is_big_endian) {
  TiffTree tree;
  tree.is_big_endian = is_big_endian;
  TiffDirectory exif, below, other;
  exif.set(tree.rationals(33434, {0.125, 3}));
  below.set(tree.doubles(51041, {1e-3, 2e-6}));
  other.set(tree.shorts(254, {1, 2, 3}));
  tree.first.set(tree.text(271, "Maker"));
  tree.first.set(tree.longs(256, {70000}));
  tree.first.set(tree.rationals(50721, {-0.5, 0.25}, true));
  tree.first.set({34665, 4, 1, {}, {exif}});
  tree.first.set({330, 4, 2, {}, {below, other}});
  return tree;
}

TEST(TiffTree, ReadsWhatItWritesInBothByteOrders) {
  for (const bool is_big_endian : {false, true}) {
    const TiffFileParts parts = write_tiff_tree(make_tree(is_big_endian));
    const TiffTree tree = read_tiff_tree(parts.head);
    EXPECT_EQ(tree.is_big_endian, is_big_endian);
    ASSERT_EQ(tree.first.entries.size(), 5u);
    EXPECT_EQ(tree.numbers(*tree.first.find(256)), std::vector<double>{70000});
    EXPECT_EQ(tree.numbers(*tree.first.find(50721)), (std::vector<double>{-0.5, 0.25}));
    const TiffEntry* others = tree.first.find(330);
    ASSERT_EQ(others->directories.size(), 2u);
    EXPECT_EQ(tree.numbers(*others->directories[0].find(51041)), (std::vector<double>{1e-3, 2e-6}));
    EXPECT_EQ(tree.numbers(*others->directories[1].find(254)), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(tree.numbers(*tree.first.find(34665)->directories[0].find(33434)),
              (std::vector<double>{0.125, 3}));
  }
}

TEST(TiffTree, IsEmptyForBytesOfOtherFormats) {
  const std::vector<std::uint8_t> png = {0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0};
  EXPECT_TRUE(read_tiff_tree(png).first.entries.empty());
  EXPECT_TRUE(read_tiff_tree({}).first.entries.empty());
}

TEST(TiffTree, SurvivesEveryTruncationAndRandomDamage) {
  const std::vector<std::uint8_t> file = write_tiff_tree(make_tree(false)).head;
  for (std::size_t size = 0; size < file.size(); ++size)
    (void)read_tiff_tree(std::span(file).first(size));
  std::mt19937 rng(1);
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::uint8_t> damaged = file;
    for (int k = 0; k < 4; ++k) damaged[rng() % damaged.size()] = static_cast<std::uint8_t>(rng());
    const TiffTree tree = read_tiff_tree(damaged);
    (void)write_tiff_tree(tree);
  }
}

TEST(TiffTree, DirectoryThatRefersToItselfEnds) {
  TiffTree tree;
  TiffDirectory below;
  below.set(tree.shorts(256, {1}));
  tree.first.set({330, 4, 1, {}, {below}});
  std::vector<std::uint8_t> file = write_tiff_tree(tree).head;
  file[8 + 2 + 8] = 8;  // the offset of the directory below becomes that of the first one
  EXPECT_TRUE(read_tiff_tree(file).first.entries.empty());
}

}  // namespace
}  // namespace lull::io
