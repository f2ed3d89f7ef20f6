#include "common/image/jpeg_huffman.h"

#include <algorithm>
#include <cstring>

#include "common/base/simd.h"
#include "jerror.h"

namespace paceline {
namespace {

constexpr int kLookedUpBits = JpegHuffmanTable::kLookedUpBits;
constexpr int kMaxCodeBits = 16;
// What an entry has as the zeros before the end of a block: beyond it.
constexpr uint32_t kEndOfBlock = DCTSIZE2;

// Where the coefficients in the order of the file are in a block. Those behind
// the end, which only damaged images have, are at its end, as in libjpeg.
struct BlockOrder {
  uint8_t at[2 * DCTSIZE2];
};
constexpr BlockOrder MakeBlockOrder() {
  BlockOrder order = {};
  int x = 0;
  int y = 0;
  for (int i = 0; i < DCTSIZE2; ++i) {
    order.at[i] = static_cast<uint8_t>(y * DCTSIZE + x);
    const bool goes_up = (x + y) % 2 == 0;
    if (goes_up) {
      if (x == DCTSIZE - 1) {
        ++y;
      } else {
        ++x;
        if (y > 0) --y;
      }
    } else if (y == DCTSIZE - 1) {
      ++x;
    } else {
      ++y;
      if (x > 0) --x;
    }
  }
  for (int i = DCTSIZE2; i < 2 * DCTSIZE2; ++i) order.at[i] = DCTSIZE2 - 1;
  return order;
}
constexpr BlockOrder kBlockOrder = MakeBlockOrder();

// The entry of a code without its value. `symbol`: what the code stands for; of
// a DC table, the size alone.
uint32_t EntryOf(int code_bits, uint8_t symbol, bool is_dc) {
  const uint32_t size = symbol & 15U;
  uint32_t zeros = is_dc ? 0 : symbol >> 4;
  if (!is_dc && size == 0 && zeros != 15) zeros = kEndOfBlock;
  return static_cast<uint32_t>(code_bits) << 8 | size << 16 | zeros << 24;
}

bool IsSame(const JHUFF_TBL& a, const JHUFF_TBL& b) {
  return std::memcmp(a.bits, b.bits, sizeof(a.bits)) == 0 &&
         std::memcmp(a.huffval, b.huffval, sizeof(a.huffval)) == 0;
}

// The value whose `size` bits are `raw`: the upper half as it is, the lower
// half is of negative values.
inline int ValueOf(uint32_t raw, uint32_t size) {
  const int is_negative = raw << 1 >> size == 0;
  return static_cast<int>(raw) + (-is_negative & (1 - (1 << size)));
}

// Sets the entries of a code.
void AddCode(uint32_t code, int code_bits, uint32_t entry, bool is_dc,
             JpegHuffmanTable& table) {
  const uint32_t count = 1U << (kLookedUpBits - code_bits);
  const uint32_t first = code * count;
  if (first + count > 1U << kLookedUpBits) return;
  const uint32_t size = entry >> 16 & 255U;
  const int behind_bits = kLookedUpBits - code_bits - static_cast<int>(size);
  for (uint32_t i = 0; i < count; ++i) {
    if (is_dc || behind_bits < 0) {
      table.entries[first + i] = entry;
      continue;
    }
    const auto value = static_cast<uint32_t>(ValueOf(i >> behind_bits, size));
    table.entries[first + i] =
        (code_bits + size) | entry >> 24 << 8 | value << 16;
  }
}

// libjpeg has checked that the codes fit, and the sizes of DC.
void Make(const JHUFF_TBL& source, bool is_dc, JpegHuffmanTable& table) {
  if (table.is_made && IsSame(table.source, source)) return;
  table.source = source;
  table.is_made = true;
  std::memset(table.entries, 0, sizeof(table.entries));
  uint32_t code = 0;
  uint32_t place = 0;
  for (int bits = 1; bits <= kMaxCodeBits; ++bits, code <<= 1) {
    table.place[bits] =
        static_cast<int32_t>(place) - static_cast<int32_t>(code);
    for (int i = 0; i < source.bits[bits]; ++i, ++code, ++place) {
      if (bits > kLookedUpBits) continue;
      AddCode(code, bits, EntryOf(bits, source.huffval[place & 255U], is_dc),
              is_dc, table);
    }
    table.max_code[bits] =
        source.bits[bits] > 0 ? static_cast<int32_t>(code) - 1 : -1;
  }
}

// The bits of a scan, while an MCU is read.
struct Reader {
  uint64_t bits;
  uint32_t bit_count;
  const uint8_t* next;
};

[[noreturn]] void Fail(jpeg_decompress_struct& jpeg, int error) {
  jpeg.err->msg_code = error;
  (*jpeg.err->error_exit)(reinterpret_cast<j_common_ptr>(&jpeg));
  __builtin_unreachable();
}

// Has libjpeg's source stand where the bits are that come next.
[[noreturn]] void FailAt(const JpegHuffmanDecoder& decoder,
                         jpeg_decompress_struct& jpeg, Reader reader,
                         int error) {
  jpeg_source_mgr& source = *jpeg.src;
  const uint8_t* const end = source.next_input_byte + source.bytes_in_buffer;
  const uint8_t* at = decoder.scan;
  size_t codes =
      decoder.dropped + (reader.next - decoder.codes) - reader.bit_count / 8;
  for (; codes > 0 && at < source.next_input_byte; --codes) {
    const bool is_ff = *at++ == 0xff;
    if (!is_ff) continue;
    while (at < source.next_input_byte && *at == 0xff) ++at;
    if (at < source.next_input_byte) ++at;
  }
  source.next_input_byte = at;
  source.bytes_in_buffer = end - at;
  Fail(jpeg, error);
}

// Reads the byte behind 0xff, of which any number may follow each other: 0, or
// the code of a marker.
uint8_t ReadBehindFf(jpeg_decompress_struct& jpeg) {
  jpeg_source_mgr& source = *jpeg.src;
  while (source.bytes_in_buffer > 0) {
    --source.bytes_in_buffer;
    const uint8_t byte = *source.next_input_byte++;
    if (byte != 0xff) return byte;
  }
  Fail(jpeg, JERR_INPUT_EOF);
}

// Drops the codes that have been taken, and adds those that follow.
void AddCodes(JpegHuffmanDecoder& decoder, jpeg_decompress_struct& jpeg) {
  jpeg_source_mgr& source = *jpeg.src;
  decoder.code_count -= decoder.taken;
  std::memmove(decoder.codes, decoder.codes + decoder.taken,
               decoder.code_count);
  decoder.dropped += decoder.taken;
  decoder.taken = 0;
  size_t count = decoder.code_count;
  while (count < JpegHuffmanDecoder::kCodeBytes) {
    if (source.bytes_in_buffer == 0) Fail(jpeg, JERR_INPUT_EOF);
    const size_t room = std::min(source.bytes_in_buffer,
                                 JpegHuffmanDecoder::kCodeBytes - count);
    const void* const ff = std::memchr(source.next_input_byte, 0xff, room);
    const size_t run = ff == nullptr ? room
                                     : static_cast<const uint8_t*>(ff) -
                                           source.next_input_byte;
    std::memcpy(decoder.codes + count, source.next_input_byte, run);
    count += run;
    source.next_input_byte += run;
    source.bytes_in_buffer -= run;
    if (ff == nullptr) continue;
    const uint8_t behind = ReadBehindFf(jpeg);
    if (behind != 0) {
      jpeg.unread_marker = behind;
      decoder.is_at_marker = true;
      std::memset(decoder.codes + count, 0, JpegHuffmanDecoder::kMcuBytes);
      break;
    }
    decoder.codes[count++] = 0xff;
  }
  decoder.code_count = count;
}

// Makes that there are at least 56 bits.
inline __attribute__((always_inline)) void Refill(Reader& reader) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, reader.next, sizeof(bytes));
  // Those behind the last whole byte come again next time.
  reader.bits |= __builtin_bswap64(bytes) >> reader.bit_count;
  reader.next += (63 - reader.bit_count) / 8;
  reader.bit_count |= 56;
}

// The entry of a code that is longer than those in the table; 0: there is none.
uint32_t FindLongCode(const JpegHuffmanTable& table, bool is_dc,
                      uint64_t bits) {
  for (int length = kLookedUpBits + 1; length <= kMaxCodeBits; ++length) {
    const auto code = static_cast<int32_t>(bits >> (64 - length));
    if (code > table.max_code[length]) continue;
    const auto place = static_cast<uint32_t>(code + table.place[length]) & 255U;
    return EntryOf(length, table.source.huffval[place], is_dc);
  }
  return 0;
}

// Reads a code and the value behind it, which the table does not have whole.
// Returns the entry, 0 if there is no such code.
inline __attribute__((always_inline)) uint32_t ReadCode(
    const JpegHuffmanTable& table, bool is_dc, Reader& reader, int& value) {
  Refill(reader);
  uint32_t entry = table.entries[reader.bits >> (64 - kLookedUpBits)];
  if (entry == 0) [[unlikely]]
    entry = FindLongCode(table, is_dc, reader.bits);
  const uint32_t code_bits = entry >> 8 & 255U;
  const uint32_t size = entry >> 16 & 255U;
  const uint64_t rest = reader.bits << code_bits;
  value = ValueOf(static_cast<uint32_t>(rest >> 1 >> (63 - size)), size);
  reader.bits <<= code_bits + size;
  reader.bit_count -= code_bits + size;
  return entry;
}

// Reads the AC coefficients of a block. Returns whether all codes exist.
inline __attribute__((always_inline)) bool ReadAc(const JpegHuffmanTable& ac,
                                                  Reader& reader,
                                                  JCOEF* block) {
  uint32_t i = 1;
  while (true) {
    Refill(reader);
    // Of as many codes as there are bits for.
    bool is_whole = true;
#pragma GCC unroll 5
    for (int j = 0; j < 56 / kLookedUpBits; ++j) {
      const uint32_t entry = ac.entries[reader.bits >> (64 - kLookedUpBits)];
      if ((entry & 255U) == 0) [[unlikely]] {
        is_whole = false;
        break;
      }
      reader.bits <<= entry & 63U;
      reader.bit_count -= entry & 63U;
      i += entry >> 8 & 255U;
      // At the end of the block, or behind 16 zeros, a zero.
      block[kBlockOrder.at[i]] = static_cast<JCOEF>(entry >> 16);
      if (++i >= DCTSIZE2) return true;
    }
    if (is_whole) continue;
    int value = 0;
    const uint32_t entry = ReadCode(ac, /*is_dc=*/false, reader, value);
    if (entry == 0) [[unlikely]]
      return false;
    i += entry >> 24;
    block[kBlockOrder.at[i]] = static_cast<JCOEF>(value);
    if (++i >= DCTSIZE2) return true;
  }
}

// Returns whether all codes exist.
inline __attribute__((always_inline)) bool ReadBlock(const JpegHuffmanTable& dc,
                                                     const JpegHuffmanTable& ac,
                                                     Reader& reader,
                                                     uint32_t& last_dc,
                                                     JCOEF* block) {
  int value = 0;
  if (ReadCode(dc, /*is_dc=*/true, reader, value) == 0) [[unlikely]]
    return false;
  last_dc += static_cast<uint32_t>(value);
  block[0] = static_cast<JCOEF>(last_dc);
  return ReadAc(ac, reader, block);
}

}  // namespace

// Not in the unnamed namespace, since it is marked. The blocks are zero.
PACELINE_MULTIVERSION
void ReadJpegBlocks(JpegHuffmanDecoder& decoder, jpeg_decompress_struct& jpeg,
                    JBLOCKROW* blocks) {
  Reader reader = {decoder.bits, decoder.bit_count,
                   decoder.codes + decoder.taken};
  for (int i = 0; i < jpeg.blocks_in_MCU; ++i) {
    const int component = jpeg.MCU_membership[i];
    const jpeg_component_info& info = *jpeg.cur_comp_info[component];
    uint32_t last_dc = decoder.last_dc[component];
    const bool is_read =
        ReadBlock(decoder.dc[info.dc_tbl_no], decoder.ac[info.ac_tbl_no],
                  reader, last_dc, blocks[i][0]);
    if (!is_read) [[unlikely]]
      FailAt(decoder, jpeg, reader, JWRN_HUFF_BAD_CODE);
    decoder.last_dc[component] = last_dc;
  }
  decoder.bits = reader.bits;
  decoder.bit_count = reader.bit_count;
  decoder.taken = reader.next - decoder.codes;
}

namespace {

boolean DecodeMcu(j_decompress_ptr jpeg, JBLOCKROW* blocks) {
  auto& decoder = static_cast<JpegHuffmanDecoder&>(*jpeg->entropy);
  if (!decoder.is_at_marker &&
      decoder.code_count - decoder.taken < JpegHuffmanDecoder::kMcuBytes) {
    AddCodes(decoder, *jpeg);
  }
  ReadJpegBlocks(decoder, *jpeg, blocks);
  // Beyond the end there are zeros, which are codes, too.
  if (decoder.taken * 8 - decoder.bit_count > decoder.code_count * 8) {
    FailAt(decoder, *jpeg, {0, 0, decoder.codes + decoder.code_count},
           JWRN_HIT_MARKER);
  }
  return TRUE;
}

// There is no second scan.
void StartPass(j_decompress_ptr jpeg) { ERREXIT(jpeg, JERR_EOI_EXPECTED); }

}  // namespace

void UseHuffmanDecoder(jpeg_decompress_struct& jpeg,
                       JpegHuffmanDecoder& decoder) {
  const bool is_readable = jpeg.arith_code == 0 && jpeg.progressive_mode == 0 &&
                           jpeg.buffered_image == 0 &&
                           jpeg.restart_interval == 0 &&
                           jpeg.data_precision == BITS_IN_JSAMPLE &&
                           jpeg_has_multiple_scans(&jpeg) == 0;
  if (!is_readable) return;
  for (int i = 0; i < jpeg.comps_in_scan; ++i) {
    const int dc = jpeg.cur_comp_info[i]->dc_tbl_no;
    const int ac = jpeg.cur_comp_info[i]->ac_tbl_no;
    Make(*jpeg.dc_huff_tbl_ptrs[dc], /*is_dc=*/true, decoder.dc[dc]);
    Make(*jpeg.ac_huff_tbl_ptrs[ac], /*is_dc=*/false, decoder.ac[ac]);
    decoder.last_dc[i] = 0;
  }
  decoder.start_pass = StartPass;
  decoder.decode_mcu = DecodeMcu;
  decoder.insufficient_data = FALSE;
  decoder.code_count = 0;
  decoder.taken = 0;
  decoder.dropped = 0;
  decoder.scan = jpeg.src->next_input_byte;
  decoder.is_at_marker = false;
  decoder.bits = 0;
  decoder.bit_count = 0;
  jpeg.entropy = &decoder;
}

}  // namespace paceline
