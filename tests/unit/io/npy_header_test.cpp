#include "plait/io/npy/npy_header.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"
#include "unit/io/scratch.hpp"

namespace plait::io {
namespace {

using test::bytes_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The start of a file: magic, version, length of the text in 2 bytes (format 1) or 4, text.
std::string start_of_file(const std::string& text, int major = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  auto length = text.size();
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i, length /= 256) file += static_cast<char>(length % 256);
  return file + text;
}

NpyHeader parsed(const std::string& text, int major = 1) {
  return parse_npy_header(bytes_of(start_of_file(text, major)), "M.npy");
}

std::string with_descr(const std::string& descr) {
  return "{'descr': " + descr + ", 'fortran_order': False, 'shape': (3, 4), }\n";
}
std::string with_shape(const std::string& shape) {
  return "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

TEST(NpyHeader, TellsTypeOrderShapeAndWhereTheDataBegins) {
  const std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }        \n";
  EXPECT_EQ(parsed(text), (NpyHeader{DType::f64,
                                     false,
                                     StorageOrder::row_major,
                                     {3, 4},
                                     10 + static_cast<Index>(text.size()),
                                     Extents::of({3, 4})}));
  const std::string by_columns = "{'descr': '>c8', 'fortran_order': True, 'shape': (0, 123456789012), }\n";
  EXPECT_EQ(parsed(by_columns), (NpyHeader{DType::c64,
                                           true,
                                           StorageOrder::column_major,
                                           {0, 123456789012},
                                           10 + static_cast<Index>(by_columns.size()),
                                           Extents::of({0, 123456789012})}));
}

TEST(NpyVectorHeader, IsOfOneDimensionOrOfOneRowOrColumn) {
  const auto vector = [](const std::string& shape) {
    return parse_npy_vector_header(bytes_of(start_of_file(with_shape(shape))), "v.npy");
  };
  for (const char* shape : {"(7,)", "(7, 1)", "(1, 7)"}) EXPECT_EQ(vector(shape).shape, (layout::Shape{7, 1})) << shape;
  EXPECT_EQ(vector("(0,)").shape, (layout::Shape{0, 1}));
  EXPECT_EQ(vector("(1, 1)").shape, (layout::Shape{1, 1}));
  for (const char* shape : {"()", "(2, 3)", "(0, 0)", "(1, 2, 3)"}) {
    EXPECT_THAT(test::message_of<FileError>([&] { return vector(shape); }),
                AllOf(StartsWith("v.npy: "), HasSubstr("expected a vector")));
  }
  EXPECT_THAT(test::message_of<FileError>([&] { return vector("(-1,)"); }), HasSubstr("negative"));
}

TEST(NpyHeader, IsReadInAllFormats) {
  const auto text = with_descr("'<i4'");
  for (const int major : {1, 2, 3}) {
    const auto header = parsed(text, major);
    EXPECT_EQ(header.dtype, DType::i32);
    EXPECT_EQ(header.data_offset, static_cast<Index>(text.size()) + (major == 1 ? 10 : 12));
  }
}

TEST(NpyHeader, IsReadHoweverPythonMayHaveWrittenIt) {
  const NpyHeader expected{DType::f64, false, StorageOrder::column_major, {3, 4}, 0, Extents::of({3, 4})};
  for (const char* text : {
           "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 4)}",
           "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 4,), }\n",
           "{'descr': '<f8', 'fortran_order': True, 'shape': (3L, 4L), }   \n",
           "{\"shape\":(3,4),\"fortran_order\":True,\"descr\":\"<f8\"}",
           "  { 'shape' : ( 3 , 4 ) ,\n 'descr' :\t'<f8' , 'fortran_order' : True } \n",
           "{u'descr': b'<f8', 'fortran_order': True, 'shape': (3, 4)}",
       }) {
    auto header = parsed(text);
    header.data_offset = 0;
    EXPECT_EQ(header, expected) << text;
  }
}

TEST(NpyHeader, KnowsAllElementTypes) {
  const std::vector<std::pair<std::string, DType>> types{
      {"i2", DType::i16}, {"i4", DType::i32}, {"i8", DType::i64}, {"u2", DType::u16}, {"u4", DType::u32},
      {"u8", DType::u64}, {"f4", DType::f32}, {"f8", DType::f64}, {"c8", DType::c64}, {"c16", DType::c128}};
  for (const auto& [code, dtype] : types) {
    for (const std::string order : {"<", ">", "=", "|", ""}) {
      const auto header = parsed(with_descr("'" + order + code + "'"));
      EXPECT_EQ(header.dtype, dtype) << order << code;
      EXPECT_EQ(header.big_endian, order == ">") << order << code;
    }
  }
  for (const std::string order : {"<", ">", "=", "|", ""}) {
    EXPECT_EQ(parsed(with_descr("'" + order + "i1'")).dtype, DType::i8);
    EXPECT_EQ(parsed(with_descr("'" + order + "u1'")).dtype, DType::u8);
    EXPECT_FALSE(parsed(with_descr("'" + order + "u1'")).big_endian) << "bytes have no order";
    EXPECT_EQ(parsed(with_descr("'" + order + "b1'")).dtype, DType::u8) << "truth values are 0 or 1";
  }
}

TEST(NpyHeader, RefusesOtherElementTypesByName) {
  const std::vector<std::pair<std::string, std::string>> types{
      {"'<f2'", "'<f2' (half precision)"},
      {"'<f16'", "'<f16' (long double)"},
      {"'<c32'", "'<c32' (complex long double)"},
      {"'|O'", "'|O' (Python objects)"},
      {"'<U7'", "'<U7' (strings)"},
      {"'|S3'", "'|S3' (strings)"},
      {"'<M8[ns]'", "'<M8[ns]' (dates or durations)"},
      {"'<m8[D]'", "'<m8[D]' (dates or durations)"},
      {"'|V16'", "'|V16' (raw bytes)"},
      {"'<i3'", "'<i3' (an unknown type)"},
      {"'<'", "'<' (an unknown type)"},
      {"''", "'' (an unknown type)"},
      {"[('x', '<f8'), ('y, }', '<i4', (2, 3))]", "[('x', '<f8'), ('y, }', '<i4', (2, 3))] (a structure)"},
      {"('<f8', (2,))", "('<f8', (2,)) (a structure)"},
  };
  for (const auto& [descr, found] : types) {
    EXPECT_THAT(
        test::message_of<FileError>([descr = descr] { static_cast<void>(parsed(with_descr(descr))); }),
        AllOf(StartsWith("M.npy: has the dtype " + found + "; supported are "), HasSubstr("f32, f64, c64 and c128")))
        << descr;
  }
}

TEST(NpyHeader, RefusesShapesThatAreNoMatrix) {
  const std::vector<std::pair<std::string, std::string>> shapes{
      {"()", "has 0 dimensions; a matrix has 2"},
      {"(5,)", "has 1 dimension; a matrix has 2"},
      {"(2, 3, 4)", "has 3 dimensions; a matrix has 2"},
      {"(-1, 4)", "has the shape -1 x 4; no extent can be negative"},
      {"(4, -1)", "has the shape 4 x -1; no extent can be negative"},
      {"(4294967296, 4294967296)", "has the shape 4294967296 x 4294967296, which is more than 2^63 bytes of f64"},
      {"(9223372036854775807, 1)", "which is more than 2^63 bytes"},
      {"(9223372036854775808, 1)", "9223372036854775808 is too large"},
  };
  for (const auto& [shape, found] : shapes) {
    EXPECT_THAT(test::message_of<FileError>([shape = shape] { static_cast<void>(parsed(with_shape(shape))); }),
                AllOf(StartsWith("M.npy: "), HasSubstr(found)))
        << shape;
  }
  EXPECT_EQ(parsed(with_shape("(0, 9223372036854775807)")).shape, (layout::Shape{0, 9223372036854775807}));
}

TEST(NpyHeader, RefusesMalformedText) {
  const std::vector<std::pair<std::string, std::string>> texts{
      {"", "at character 0: expected '{', found the end"},
      {"[1]", "expected '{', found \"[1]\""},
      {"{", "expected a string, found the end"},
      {"{'descr'", "expected ':', found the end"},
      {"{'descr': ", "expected a value"},
      {"{'descr': '<f8", "expected the end of a string"},
      {"{'descr': '<f8' 'shape': (3, 4)}", "at character 16: expected ',' or '}'"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)} 1", "expected the end"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4}", "expected ',' or '}', found the end"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': ((3, 4}", "expected a closing bracket"},
      {"{'descr': '<f8', 'fortran_order': False}", "there is no 'shape'"},
      {"{'descr': '<f8', 'shape': (3, 4)}", "there is no 'fortran_order'"},
      {"{'fortran_order': False, 'shape': (3, 4)}", "there is no 'descr'"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), 'more': 1}", "key 'more'; expected only"},
      {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)}", "key 'descr' comes twice"},
      {"{'descr': True, 'fortran_order': False, 'shape': (3, 4)}", "'descr' is not a string"},
      {"{'descr': '<f8', 'fortran_order': 0, 'shape': (3, 4)}", "'fortran_order' is not True or False"},
      {"{'descr': '<f8', 'fortran_order': None, 'shape': (3, 4)}", "'fortran_order' is not True or False"},
      {with_shape("3"), "'shape' is not a tuple of integers"},
      {with_shape("(3)"), "'shape' is not a tuple of integers"},
      {with_shape("(3 4)"), "'shape' is not a tuple of integers"},
      {with_shape("(3, 4.0)"), "'shape' is not a tuple of integers"},
      {with_shape("[3, 4]"), "'shape' is not a tuple of integers"},
      {with_shape("'3, 4'"), "'shape' is not a tuple of integers"},
  };
  for (const auto& [text, found] : texts) {
    EXPECT_THAT(test::message_of<FileError>([text = text] { static_cast<void>(parsed(text)); }),
                AllOf(StartsWith("M.npy: malformed .npy header: "), HasSubstr(found)))
        << text;
  }
}

TEST(NpyHeader, SurvivesAnyDamage) {
  const std::string whole = start_of_file(with_descr("[('x', '<f8'), ('y', '>i4')]"));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char damage : {'\0', '\xff', '\'', '(', ')', '{', '}', ',', '9', '\\'}) {
      std::string file = whole;
      file[at] = damage;
      EXPECT_THROW(
          {
            const auto needed = npy_header_bytes(bytes_of(file), "M.npy");
            if (!needed || *needed > static_cast<Index>(file.size())) throw FileError("M.npy: is truncated");
            static_cast<void>(parse_npy_header(bytes_of(file), "M.npy"));
          },
          FileError)
          << "byte " << at;
    }
  }
}

TEST(NpyHeader, RefusesOtherFilesAndVersions) {
  const auto needed = [](std::string file) {
    return [file] { static_cast<void>(npy_header_bytes(bytes_of(file), "M.npy")); };
  };
  EXPECT_THAT(test::message_of<FileError>(needed("not a NumPy file")), StartsWith("M.npy: is no .npy file"));
  EXPECT_THAT(test::message_of<FileError>(needed(start_of_file("{}", 4))),
              "M.npy: is of .npy format 4.0; formats 1.0, 2.0 and 3.0 are supported");
  std::string odd = start_of_file("{}");
  odd[7] = 5;
  EXPECT_THAT(test::message_of<FileError>(needed(odd)), HasSubstr("format 1.5"));
  std::string long_header = start_of_file("{}", 2);
  long_header[11] = '\x7f';
  EXPECT_THAT(test::message_of<FileError>(needed(long_header)), HasSubstr("bytes long; expected at most"));
}

TEST(NpyHeader, TellsHowLongItIsOnceThatIsKnown) {
  const std::string file = start_of_file(std::string(100, ' '), 2);
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto needed = npy_header_bytes(bytes_of(file).first(size), "M.npy");
    EXPECT_EQ(needed, size < 12 ? std::nullopt : std::optional<Index>(112)) << size;
  }
}

TEST(NpyHeaderText, IsThatOfNumpyByteForByte) {
  // np.save of np.zeros((3, 4)) and of np.zeros((2, 12345), '>c16', order='F').astype('<c16')
  const std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
  EXPECT_EQ(npy_header_text(DType::f64, Extents::of({3, 4}), StorageOrder::row_major),
            std::string("\x93NUMPY\x01\x00v\x00", 10) + text + std::string(117 - text.size(), ' ') + "\n");
  const std::string wide = "{'descr': '<c16', 'fortran_order': True, 'shape': (2, 12345), }";
  EXPECT_EQ(npy_header_text(DType::c128, Extents::of({2, 12345}), StorageOrder::column_major),
            std::string("\x93NUMPY\x01\x00v\x00", 10) + wide + std::string(117 - wide.size(), ' ') + "\n");
}

TEST(NpyHeaderText, IsReadAsItWasMeantWithDataAtAMultipleOf64) {
  const Index large = Index{1} << 58;
  for (const layout::Shape shape : {layout::Shape{0, 0}, layout::Shape{1, 1}, layout::Shape{large, 0},
                                    layout::Shape{1, large}, layout::Shape{123456789, 1000}}) {
    for (const auto order : {StorageOrder::row_major, StorageOrder::column_major}) {
      for (int i = 0; i < 12; ++i) {
        const auto dtype = static_cast<DType>(i);
        if (elements(shape) > (Index{1} << 62) / bytes(dtype)) continue;
        const auto text = npy_header_text(dtype, Extents::of(shape), order);
        EXPECT_EQ(text.size() % 64, 0U);
        EXPECT_EQ(parse_npy_header(bytes_of(text), "M.npy"),
                  (NpyHeader{dtype, false, order, shape, static_cast<Index>(text.size()), Extents::of(shape)}));
      }
    }
  }
}

}  // namespace
}  // namespace plait::io
