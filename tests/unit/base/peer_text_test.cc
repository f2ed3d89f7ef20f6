#include "common/base/peer_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/base/peer_error_text.h"
#include "common/base/peer_status.h"
#include "common/base/utf8.h"

namespace paceline {
namespace {

TEST(PeerTextTest, LeavesPlainTextAlone) {
  EXPECT_EQ(PeerText("Push to ps-1 at 10.0.0.2:2222"),
            "Push to ps-1 at 10.0.0.2:2222");
  EXPECT_EQ(PeerText("größer, ≥ 3, 🙂"), "größer, ≥ 3, 🙂");
  EXPECT_EQ(PeerText(""), "");
}

TEST(PeerTextTest, EscapesWhatControls) {
  EXPECT_EQ(PeerText("\x1b[2Jgone\r\n\tnext"), "\\x1b[2Jgone\\x0d\\n\\tnext");
  EXPECT_EQ(PeerText(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(PeerText("\x7f \u009b \u202e \u2066 \u2028"),
            "\\x7f \\u009b \\u202e \\u2066 \\u2028");
}

TEST(PeerTextTest, EscapesWhatIsNoUtf8) {
  // A byte that begins nothing, an overlong "/", a surrogate, a torn character.
  EXPECT_EQ(PeerText("\xff \xc0\xaf \xed\xa0\x80 \xe2\x82"),
            "\\xff \\xc0\\xaf \\xed\\xa0\\x80 \\xe2\\x82");
}

TEST(PeerTextTest, KeepsTheEndsOfALongText) {
  const std::string most(200, 'a');
  EXPECT_EQ(PeerText(most), most);
  const std::string text =
      PeerText("begin" + std::string(1'000'000, '\x01') + "end");
  EXPECT_EQ(text.substr(0, 9), "begin\\x01");
  EXPECT_EQ(text.substr(text.size() - 3), "end");
  EXPECT_EQ(text.size(), 199 + std::string("…").size());
  EXPECT_EQ(PeerText(text), text) << "a second hop changes nothing";

  std::string wide;
  for (int i = 0; i < 201; ++i) wide += "€";
  const std::string kept = PeerText(wide);
  EXPECT_TRUE(IsUtf8(kept));
  EXPECT_EQ(kept.size(), 200 * 3);
}

TEST(PeerTextTest, KeepsMoreOfAnError) {
  const std::string most(kMaxPeerErrorCharacters, 'a');
  EXPECT_EQ(PeerErrorText(most), most);
  EXPECT_EQ(MakePeerStatus(5, most), absl::NotFoundError(most));
  const std::string text = PeerErrorText(most + "\x01 end");
  EXPECT_EQ(text.size(), kMaxPeerErrorCharacters - 1 + std::string("…").size());
  EXPECT_EQ(text.substr(text.size() - 9), "a\\x01 end");
  EXPECT_EQ(PeerErrorText(text), text);
}

TEST(PeerStatusTest, KnowsCodes) {
  EXPECT_EQ(MakePeerStatus(5, "no\nfile"), absl::NotFoundError("no\\nfile"));
  EXPECT_EQ(MakePeerStatus(0, "fine").code(), absl::StatusCode::kOk);
  for (const int code : {-1, 17, 1 << 30}) {
    EXPECT_EQ(MakePeerStatus(code, "odd"), absl::UnknownError("odd")) << code;
  }
}

}  // namespace
}  // namespace paceline
