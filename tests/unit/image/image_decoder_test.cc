#include "common/image/image_decoder.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jpeglib.h"
#include "nlohmann/json.hpp"
#include "zlib.h"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string ReadFixture(const std::string& name) {
  auto bytes = ReadFile(
      absl::StrCat(PACELINE_SOURCE_DIR, "/tests/unit/image/fixtures/", name),
      1 << 20);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.value_or("");
}

absl::Status DecodeError(absl::string_view bytes, int channels = 3) {
  return ImageDecoder(channels).Decode(bytes).status();
}

TEST(ImageDecoderTest, CallsAnEmptyImageEmpty) {
  EXPECT_EQ(DecodeError(""), absl::InvalidArgumentError(
                                 "is empty, expected a JPEG or PNG image"));
}

void ExpectImage(const json& expected, const PixelBuffer& image, int channels) {
  const ImageSize size = {expected["size"][0], expected["size"][1]};
  ASSERT_EQ(image.size(), size);
  std::string pixels;
  ASSERT_TRUE(
      absl::Base64Unescape(expected["pixels"].get<std::string>(), &pixels));
  ASSERT_EQ(std::ssize(pixels), size.height * size.width * channels);
  for (size_t i = 0; i < pixels.size(); ++i) {
    ASSERT_EQ(image.pixels()[i], static_cast<uint8_t>(pixels[i])) << i;
  }
}

TEST(ImageDecoderTest, GivesThePixelsOfTensorFlow) {
  const auto text = ReadFile(
      PACELINE_SOURCE_DIR "/tests/interop/image_expected.json", 1 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  const json images = json::parse(*text)["images"];
  ASSERT_GE(images.size(), 50);
  // Each for all images, of any size and format.
  ImageDecoder decoders[] = {ImageDecoder(1), ImageDecoder(3), ImageDecoder(4)};
  for (const json& each : images) {
    const int channels = each["channels"];
    SCOPED_TRACE(
        absl::StrCat(each["file"].get<std::string>(), " as ", channels));
    const std::string bytes = ReadFixture(each["file"]);
    const auto image = decoders[channels / 2].Decode(bytes);
    if (each.contains("error")) {
      EXPECT_EQ(image.status().code(), absl::StatusCode::kInvalidArgument)
          << image.status();
      continue;
    }
    ASSERT_TRUE(image.ok()) << image.status();
    ExpectImage(each, **image, channels);
  }
}

TEST(ImageDecoderTest, RefusesWhatIsNoImage) {
  EXPECT_EQ(DecodeError("").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DecodeError("GIF89a....").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DecodeError("\xff\xd8\xff").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeError("\x89PNG\r\n\x1a\n").code(),
            absl::StatusCode::kDataLoss);
}

TEST(ImageDecoderTest, RefusesEachImageThatIsCutShort) {
  for (const char* name : {"420.jpg", "progressive.jpg", "cmyk.jpg", "rgb.png",
                           "palette.png", "interlaced.png"}) {
    const std::string bytes = ReadFixture(name);
    ImageDecoder decoder(3);
    for (size_t size = 8; size < bytes.size(); ++size) {
      const absl::Status status =
          decoder.Decode(bytes.substr(0, size)).status();
      ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss)
          << name << " with " << size << " bytes: " << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("cut short"));
    }
    EXPECT_TRUE(decoder.Decode(bytes).ok()) << name;
  }
}

TEST(ImageDecoderTest, RefusesEachFlippedBitOfAPng) {
  for (const char* name : {"rgba.png", "palette_transparent.png"}) {
    std::string bytes = ReadFixture(name);
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
      EXPECT_FALSE(DecodeError(bytes).ok()) << name << ", byte " << i;
      bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    }
  }
}

TEST(ImageDecoderTest, ADamagedJpegHasAnErrorWithItsPlace) {
  std::string bytes = ReadFixture("restart.jpg");
  const size_t marker = bytes.find("\xff\xd0");
  ASSERT_NE(marker, std::string::npos);
  bytes[marker + 1] = '\xd5';
  const absl::Status status = DecodeError(bytes);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("at byte "));
}

TEST(ImageDecoderTest, SkipsBytesBetweenMarkers) {
  std::string bytes = ReadFixture("420.jpg");
  bytes.insert(bytes.size() - 2, "left over");
  EXPECT_TRUE(DecodeError(bytes).ok());
}

// With another upper byte of height and width.
std::string WithJpegSize(std::string bytes, char high) {
  const size_t frame = bytes.find("\xff\xc0");
  EXPECT_NE(frame, std::string::npos);
  bytes[frame + 5] = high;
  bytes[frame + 7] = high;
  return bytes;
}

TEST(ImageDecoderTest, RefusesJpegBombsBeforeItAllocates) {
  const std::string jpeg = ReadFixture("420.jpg");
  ImageDecoder decoder(3);
  ASSERT_TRUE(decoder.Decode(jpeg).ok());
  const struct {
    std::string bytes;
    absl::StatusCode code;
  } kBombs[] = {
      {WithJpegSize(jpeg, '\x7f'), absl::StatusCode::kInvalidArgument},
      {WithJpegSize(jpeg, '\x0f'), absl::StatusCode::kDataLoss},
  };
  for (const auto& bomb : kBombs) {
    const absl::Status status = decoder.Decode(bomb.bytes).status();
    EXPECT_EQ(status.code(), bomb.code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(" pixels"));
  }
}

// A chunk of a PNG image.
std::string Chunk(absl::string_view type_and_content) {
  const auto size = static_cast<char>(type_and_content.size() - 4);
  std::string chunk = {0, 0, 0, size};
  absl::StrAppend(&chunk, type_and_content);
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(type_and_content.data()),
            static_cast<uInt>(type_and_content.size()));
  for (int shift = 24; shift >= 0; shift -= 8) {
    chunk += static_cast<char>(sum >> shift);
  }
  return chunk;
}

TEST(ImageDecoderTest, RefusesPngBombsBeforeItAllocates) {
  const struct {
    absl::string_view height;
    absl::StatusCode code;
  } kBombs[] = {
      {absl::string_view("\0\0\x05\xdc", 4), absl::StatusCode::kDataLoss},
      {absl::string_view("\0\0\x9c\x40", 4),
       absl::StatusCode::kInvalidArgument},
  };
  for (const auto& bomb : kBombs) {
    std::string header("IHDR\0\0\x9c\x40", 8);
    absl::StrAppend(&header, bomb.height);
    header.append("\x08\x02\0\0\0", 5);
    const absl::Status status = DecodeError(absl::StrCat(
        "\x89PNG\r\n\x1a\n", Chunk(header), Chunk("IDATxxxx"), Chunk("IEND")));
    EXPECT_EQ(status.code(), bomb.code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(" pixels"));
  }
}

// A gray JPEG image of 8 x 8 pixels, whose second scan comes `count` times.
std::string JpegWithScans(int count) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* out = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type
  jpeg_mem_dest(&jpeg, &out, &size);
  jpeg.image_width = jpeg.image_height = 8;
  jpeg.input_components = 1;
  jpeg.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  const jpeg_scan_info scans[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};
  jpeg.scan_info = scans;
  jpeg.num_scans = 2;
  jpeg_start_compress(&jpeg, TRUE);
  for (uint8_t y = 0; y < 8; ++y) {
    uint8_t row[8] = {0, y, 9, 200, y, 8, 7, 1};
    JSAMPROW rows = row;
    jpeg_write_scanlines(&jpeg, &rows, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  const std::string bytes(reinterpret_cast<char*>(out), size);
  std::free(out);
  const size_t scan = bytes.rfind("\xff\xda");
  std::string image = bytes.substr(0, scan);
  for (int i = 0; i < count; ++i) {
    image += bytes.substr(scan, size - 2 - scan);
  }
  return image + "\xff\xd9";
}

TEST(ImageDecoderTest, RefusesTooManyScans) {
  EXPECT_TRUE(DecodeError(JpegWithScans(kMaxJpegScans - 1)).ok());
  const absl::Status status = DecodeError(JpegWithScans(kMaxJpegScans));
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than 100 scans"));
}

}  // namespace
}  // namespace paceline
