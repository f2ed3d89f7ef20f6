#include "common/image/png_decoder.h"

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/image/image_limits.h"
#include "png.h"

namespace paceline {
namespace {

// libpng leaves by longjmp on an error, so what it is called from holds no
// objects with destructors, other than this.
class PngReader {
 public:
  explicit PngReader(absl::string_view bytes) : bytes_(bytes) {}
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  absl::Status Decode(int channels, PixelBuffer& pixels) {
    if (setjmp(on_error_) != 0) {
      return absl::DataLossError(absl::StrFormat(
          "the PNG image is damaged, or cut short, at byte %d of %d: %s", at_,
          bytes_.size(), message_));
    }
    return DecodeOrJump(channels, pixels);
  }

 private:
  [[noreturn]] static void OnError(png_structp png, png_const_charp message) {
    auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
    self->Fail(message);
  }

  static void OnWarning(png_structp /*png*/, png_const_charp /*message*/) {}

  static void OnRead(png_structp png, png_bytep out, size_t size) {
    auto* self = static_cast<PngReader*>(png_get_io_ptr(png));
    if (size > self->bytes_.size() - self->at_) self->Fail("it ends here");
    std::memcpy(out, self->bytes_.data() + self->at_, size);
    self->at_ += size;
  }

  [[noreturn]] void Fail(const char* message) {
    absl::SNPrintF(message_, sizeof(message_), "%s", message);
    std::longjmp(on_error_, 1);
  }

  void Create();
  absl::Status CheckHeader() const;
  void SetTransformations(int channels);
  absl::Status DecodeOrJump(int channels, PixelBuffer& pixels);

  const absl::string_view bytes_;
  size_t at_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf on_error_;
  char message_[128];
};

void PngReader::Create() {
  png_ =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, this, OnError, OnWarning);
  if (png_ == nullptr) Fail("no memory");
  info_ = png_create_info_struct(png_);
  if (info_ == nullptr) Fail("no memory");
  png_set_read_fn(png_, this, OnRead);
  png_set_user_limits(png_, kMaxImagePixels, kMaxImagePixels);
  png_set_chunk_malloc_max(png_, kMaxPngChunkBytes);
  png_set_chunk_cache_max(png_, kMaxPngChunks);
  png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
}

absl::Status PngReader::CheckHeader() const {
  const ImageSize size = {png_get_image_height(png_, info_),
                          png_get_image_width(png_, info_)};
  const auto row_bytes = static_cast<int64_t>(png_get_rowbytes(png_, info_));
  return CheckImageSize(size, size.height * row_bytes,
                        static_cast<int64_t>(bytes_.size()),
                        kMaxPngDeflateRatio);
}

// In the order of TensorFlow's png_io.cc.
void PngReader::SetTransformations(int channels) {
  const int color = png_get_color_type(png_, info_);
  const bool has_alpha = (color & PNG_COLOR_MASK_ALPHA) != 0;
  const bool has_transparency = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
  const bool is_gray = (color & PNG_COLOR_MASK_COLOR) == 0;
  const int bits = png_get_bit_depth(png_, info_);
  if (channels == 4) {
    if (!has_alpha && has_transparency) {
      png_set_tRNS_to_alpha(png_);
    } else if (!has_alpha) {
      png_set_add_alpha(png_, (1 << bits) - 1, PNG_FILLER_AFTER);
    }
  } else if (has_alpha || has_transparency) {
    png_set_strip_alpha(png_);
  }
  if (bits > 8) png_set_strip_16(png_);
  png_set_packing(png_);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
  if (is_gray && bits < 8) png_set_expand_gray_1_2_4_to_8(png_);
  if (channels == 1 && !is_gray) {
    png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  } else if (channels > 1 && is_gray) {
    png_set_gray_to_rgb(png_);
  }
}

absl::Status PngReader::DecodeOrJump(int channels, PixelBuffer& pixels) {
  Create();
  png_read_info(png_, info_);
  RETURN_IF_ERROR(CheckHeader());
  SetTransformations(channels);
  const int passes = png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  pixels.Resize(
      {png_get_image_height(png_, info_), png_get_image_width(png_, info_)},
      channels);
  if (static_cast<int64_t>(png_get_rowbytes(png_, info_)) !=
      pixels.row_bytes()) {
    Fail("its colors do not fit");
  }
  for (int pass = 0; pass < passes; ++pass) {
    for (int64_t y = 0; y < pixels.size().height; ++y) {
      png_read_row(png_, pixels.row(y), nullptr);
    }
  }
  png_read_end(png_, nullptr);
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodePng(absl::string_view bytes, int channels,
                       PixelBuffer& pixels) {
  return PngReader(bytes).Decode(channels, pixels);
}

}  // namespace paceline
