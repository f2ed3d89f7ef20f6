#include "worker/inspection/contact_sheet.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "common/data_source/image_input.h"
#include "common/image/png_decoder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

PixelBuffer Drawn(const ContactSheet& sheet, int channels) {
  const absl::StatusOr<std::string> png = sheet.EncodePng();
  EXPECT_TRUE(png.ok()) << png.status();
  PixelBuffer pixels;
  const absl::Status status = DecodePng(*png, channels, pixels);
  EXPECT_TRUE(status.ok()) << status;
  return pixels;
}

TEST(ContactSheetTest, DrawsImagesInRowsScaledToTheirRange) {
  ContactSheet sheet({1, 2, 1}, 3);
  EXPECT_EQ(sheet.capacity(), 3);
  sheet.Add(std::vector<float>{-1, 3, 0, 1, NAN, 2});
  EXPECT_EQ(sheet.black(), -1);
  EXPECT_EQ(sheet.white(), 3);
  PixelBuffer pixels = Drawn(sheet, 1);
  // A column of three images, two pixels apart.
  ASSERT_EQ(pixels.size(), (ImageSize{11, 6}));
  const auto row = [&](int64_t y) {
    return std::vector<int>(pixels.row(y), pixels.row(y) + 6);
  };
  EXPECT_THAT(row(2), testing::ElementsAre(128, 128, 0, 255, 128, 128));
  EXPECT_THAT(row(3), testing::Each(128));
  EXPECT_THAT(row(5), testing::ElementsAre(128, 128, 64, 128, 128, 128));
  EXPECT_THAT(row(8), testing::ElementsAre(128, 128, 0, 191, 128, 128));
}

TEST(ContactSheetTest, DrawsColors) {
  ContactSheet sheet({1, 1, 3}, 2);
  sheet.Add(std::vector<float>{0, 128, 255, 255, 0, 1});
  PixelBuffer pixels = Drawn(sheet, 3);
  const uint8_t* row = pixels.row(2) + size_t{2} * 3;
  EXPECT_THAT(std::vector<int>(row, row + 3),
              testing::ElementsAre(0, 128, 255));
}

TEST(ContactSheetTest, ImagesOfOneValueAreGrey) {
  ContactSheet sheet({1, 1}, 1);
  sheet.Add(std::vector<float>{7});
  EXPECT_EQ(Drawn(sheet, 1).row(2)[2], 128);
}

TEST(ContactSheetTest, DrawsEachImageByItself) {
  ContactSheet sheet({1, 2, 1}, 3);
  sheet.Add(std::vector<float>{-1, 3, 0, 1, NAN, 2});
  const auto images = sheet.EncodeImages(1 << 20);
  ASSERT_TRUE(images.ok()) << images.status();
  std::vector<std::vector<int>> rows;
  int64_t bytes = 0;
  for (const std::string& png : *images) {
    bytes += std::ssize(png);
    PixelBuffer pixels;
    ASSERT_TRUE(DecodePng(png, 1, pixels).ok());
    ASSERT_EQ(pixels.size(), (ImageSize{1, 2}));
    rows.emplace_back(pixels.row(0), pixels.row(0) + 2);
  }
  EXPECT_THAT(rows, testing::ElementsAre(testing::ElementsAre(0, 255),
                                         testing::ElementsAre(64, 128),
                                         testing::ElementsAre(0, 191)));
  EXPECT_EQ(sheet.EncodeImages(bytes)->size(), 3);
  EXPECT_EQ(sheet.EncodeImages(bytes - 1)->size(), 2);
  EXPECT_EQ(sheet.EncodeImages(1)->size(), 0);
}

TEST(ContactSheetTest, TakesNoMoreThanFit) {
  ContactSheet few({2, 2}, 3);
  few.Add(std::vector<float>(8));
  few.Add(std::vector<float>(40));
  EXPECT_EQ(few.size(), 3);
  EXPECT_EQ(ContactSheet({1, 1}, 1 << 20).capacity(), ContactSheet::kMaxImages);
  EXPECT_EQ(ContactSheet({1020, 1020, 3}, 64).capacity(), 8);
  EXPECT_EQ(ContactSheet({4000, 4000}, 64).capacity(), 1);
}

TEST(ContactSheetTest, KnowsWhatIsAnImage) {
  for (const Shape& shape : {Shape{28, 28}, {28, 28, 1}, {1, 5, 3}}) {
    EXPECT_TRUE(IsDrawn(shape)) << ShapeToString(shape);
  }
  for (const Shape& shape : {Shape{},
                             {784},
                             {28, 28, 4},
                             {28, 28, 2},
                             {2, 28, 28, 1},
                             {0, 28},
                             {1 << 20, 1 << 20}}) {
    EXPECT_FALSE(IsDrawn(shape)) << ShapeToString(shape);
  }
}

}  // namespace
}  // namespace paceline
