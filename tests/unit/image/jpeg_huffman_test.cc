// JPEG images have the pixels, or the damage, that libjpeg finds in them.
#include "common/image/jpeg_huffman.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/image/jpeg_decoder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/stock_jpeg.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

struct JpegForm {
  int height = 1;
  int width = 1;
  int quality = 90;
  // Of the first component; those of the others are 1.
  int horizontal = 2;
  int vertical = 2;
  bool is_gray = false;
  // Whether the Huffman tables are made for the image.
  bool has_own_tables = false;
  int restart_rows = 0;
  bool is_progressive = false;
  // How far pixels are from the colors of smooth areas.
  int noise = 20;
};

std::string Encode(const JpegForm& form, uint32_t seed) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* out = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type
  jpeg_mem_dest(&jpeg, &out, &size);
  jpeg.image_width = form.width;
  jpeg.image_height = form.height;
  jpeg.input_components = form.is_gray ? 1 : 3;
  jpeg.in_color_space = form.is_gray ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, form.quality, TRUE);
  jpeg.comp_info[0].h_samp_factor = form.horizontal;
  jpeg.comp_info[0].v_samp_factor = form.vertical;
  jpeg.optimize_coding = form.has_own_tables ? TRUE : FALSE;
  jpeg.restart_in_rows = form.restart_rows;
  if (form.is_progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  std::mt19937 random(seed);
  std::vector<uint8_t> row(form.width * jpeg.input_components);
  while (jpeg.next_scanline < jpeg.image_height) {
    for (size_t i = 0; i < row.size(); ++i) {
      const auto smooth =
          static_cast<uint32_t>(i / 9 + 3 * jpeg.next_scanline / 2);
      row[i] = static_cast<uint8_t>(smooth + random() % (form.noise + 1));
    }
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&jpeg, &rows, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string bytes(reinterpret_cast<char*>(out), size);
  jpeg_destroy_compress(&jpeg);
  std::free(out);
  return bytes;
}

// Returns whether the image is whole.
bool ExpectAsByLibjpeg(JpegDecoder& decoder, const std::string& bytes,
                       int channels) {
  PixelBuffer pixels;
  const absl::Status decoded = decoder.Decode(bytes, channels, pixels);
  std::vector<uint8_t> expected;
  const bool is_whole = DecodeByLibjpeg(bytes, channels, expected);
  // It has limits that libjpeg has not.
  if (decoded.code() == absl::StatusCode::kInvalidArgument) return false;
  // Some of these libjpeg passes over.
  if (!absl::StrContains(decoded.message(), "bad Huffman code")) {
    EXPECT_EQ(decoded.ok(), is_whole) << decoded;
  }
  if (!decoded.ok()) return false;
  const int64_t size = pixels.size().height * pixels.row_bytes();
  EXPECT_EQ(size, std::ssize(expected));
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), pixels.pixels()));
  return true;
}

std::vector<JpegForm> Forms() {
  return {
      {.height = 1, .width = 1},
      {.height = 17, .width = 33},
      {.height = 90, .width = 70, .quality = 100, .noise = 255},
      {.height = 90, .width = 70, .quality = 1, .noise = 255},
      {.height = 64,
       .width = 64,
       .quality = 100,
       .horizontal = 1,
       .vertical = 1,
       .noise = 255},
      {.height = 40, .width = 81, .horizontal = 2, .vertical = 1},
      {.height = 40, .width = 81, .horizontal = 1, .vertical = 2},
      {.height = 40, .width = 81, .horizontal = 4, .vertical = 2},
      {.height = 40, .width = 81, .is_gray = true},
      {.height = 90, .width = 70, .has_own_tables = true, .noise = 255},
      {.height = 90, .width = 70, .quality = 30, .has_own_tables = true},
      {.height = 40, .width = 40, .has_own_tables = true, .noise = 0},
      {.height = 90, .width = 70, .restart_rows = 1},
      {.height = 90, .width = 70, .is_progressive = true},
      // Larger than what is read at once.
      {.height = 300, .width = 400, .quality = 98, .noise = 255},
  };
}

TEST(JpegHuffmanTest, GivesThePixelsOfLibjpeg) {
  // One decoder, so tables change from image to image.
  JpegDecoder decoder;
  uint32_t seed = 0;
  for (const JpegForm& form : Forms()) {
    SCOPED_TRACE(absl::StrCat("form ", seed));
    const std::string bytes = Encode(form, seed++);
    for (const int channels : {3, 1}) {
      EXPECT_TRUE(ExpectAsByLibjpeg(decoder, bytes, channels));
    }
  }
}

TEST(JpegHuffmanTest, FindsTheDamageThatLibjpegFinds) {
  JpegDecoder decoder;
  std::mt19937 random(5);
  int whole = 0;
  int damaged = 0;
  for (JpegForm form : Forms()) {
    // Under sanitizers each takes its time.
    form.height = std::min(form.height, 48);
    form.width = std::min(form.width, 48);
    const std::string bytes = Encode(form, 9);
    for (int i = 0; i < 200; ++i) {
      std::string changed = bytes;
      const size_t count = 1 + random() % 3;
      for (size_t j = 0; j < count; ++j) {
        changed[random() % changed.size()] = static_cast<char>(random());
      }
      if (i % 10 == 0) changed.resize(random() % changed.size());
      SCOPED_TRACE(absl::StrCat("quality ", form.quality, ", change ", i));
      ++(ExpectAsByLibjpeg(decoder, changed, 3) ? whole : damaged);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(whole, 100);
  EXPECT_GT(damaged, 100);
}

// The place is exact, however far the decoder has read ahead.
TEST(JpegHuffmanTest, AnErrorHasItsPlace) {
  std::string bytes =
      Encode({.height = 300, .width = 400, .quality = 98, .noise = 255}, 1);
  // No code has so many ones.
  const size_t at = bytes.size() / 2;
  for (size_t i = 0; i < 12; i += 2) {
    bytes[at + i] = '\xff';
    bytes[at + i + 1] = '\0';
  }
  JpegDecoder decoder;
  PixelBuffer pixels;
  const std::string message(decoder.Decode(bytes, 3, pixels).message());
  EXPECT_THAT(message, HasSubstr("Corrupt JPEG data: bad Huffman code"));
  const size_t found = message.find("at byte ") + 8;
  const int byte = std::atoi(message.c_str() + found);
  EXPECT_NEAR(byte, static_cast<int>(at), 16) << message;
}

}  // namespace
}  // namespace paceline
