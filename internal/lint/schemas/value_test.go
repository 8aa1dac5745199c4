package schemas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/gentest"
	"github.com/idem-spec/idem/internal/lint/config"
)

func TestValues(t *testing.T) {
	t.Parallel()
	const (
		float    = "IDEM_MONEY_FLOAT"
		option   = "IDEM_DECIMAL_OPTION_MISSING"
		declared = "IDEM_DECIMAL_UNDECLARED"
		scale    = "IDEM_DECIMAL_SCALE_MISSING"
		currency = "IDEM_FINGERPRINT_CURRENCY_MISSING"
		uuid     = "IDEM_UUID_OPTION_MISSING"
	)
	runAll(t, []given{
		{name: "float and double and wrapper", rule: float,
			proto: message("", "double amount = 2; float unit_price = 3; google.protobuf.DoubleValue order_total = 4; repeated double fee_eur = 5; double tax_rate = 6; double total = 7;"),
			want:  []string{"M.amount is a double", "M.unit_price is a float", "M.order_total is a google.protobuf.DoubleValue", "M.fee_eur", "M.tax_rate", "M.total"}},
		{name: "other names", rule: float,
			proto: message("", "double latitude = 2; double amount_of_rain = 3; double heart_rate = 4; double distance_total = 5; double rate = 6; double usd = 7; double priceless = 8;")},
		{name: "other types", rule: float, proto: message("", "string amount = 2; int64 fee = 3; google.type.Money price = 4; google.type.Decimal cost = 5;")},
		{name: "in what a message holds", rule: float,
			proto: message("", "repeated Item items = 2; map<string, Item> more = 3; M again = 4;") + ` message Item { double price = 1; }`,
			want:  []string{"Item.price"}},
		{name: "not annotated", rule: float, proto: `message Item { double price = 1; }`},
		{name: "in braces of a oneof", rule: float, proto: message("", "oneof o { double fee = 2; double x = 3; }"), want: []string{"M.fee"}},

		{name: "in any template", rule: option,
			proto: message(`fingerprint: "{s.amount}:{balance}" biz_key: "{cost}"`, "S s = 2; string balance = 3; google.protobuf.StringValue cost = 4;") + ` message S { string amount = 1; }`,
			want:  []string{"t.v1.M.balance", "t.v1.M.cost", "t.v1.S.amount"}},
		{name: "named once where two templates name it", rule: option,
			proto: message(`fingerprint: "{amount}" idempotency_key_previous: "t.m:{amount}"`, "string amount = 2;"), want: []string{"M.amount"}},
		{name: "another option, another type, another name", rule: option,
			proto: message(`fingerprint: "{amount}:{fee}:{price}:{count}"`, `string amount = 2 [(idem.v1.field).decimal = {}]; google.type.Decimal fee = 3;
				string price = 4 [(idem.v1.field).uuid = true]; string count = 5;`)},

		{name: "beside the templates", rule: declared, proto: message("", "string amount = 2; repeated string price = 3;"), want: []string{"M.amount", "M.price"}},
		{name: "named by a template, said, or another type", rule: declared,
			proto: message(`fingerprint: "{amount}"`, "string amount = 2; string fee = 3 [(idem.v1.field).decimal = {}]; bytes tax = 4; string tax_code = 5; map<string, string> price = 6;")},

		{name: "key and fingerprint", rule: scale,
			proto: message(`fingerprint: "{amount}:{rate}"`, "string amount = 2 [(idem.v1.field).decimal = {}]; google.type.Decimal rate = 3;"), want: []string{"M.amount", "M.rate"}},
		{name: "stated, also as 0", rule: scale,
			proto: message(`fingerprint: "{amount}:{rate}:{price}"`, `string amount = 2 [(idem.v1.field).decimal = {max_scale: 0}];
				google.type.Decimal rate = 3 [(idem.v1.field).decimal = {max_scale: 255}]; google.type.Money price = 4;`)},
		{name: "other templates", rule: scale, proto: message(`biz_key: "{amount}"`, "string amount = 2 [(idem.v1.field).decimal = {}];")},

		{name: "string, enum and code", rule: currency,
			proto: message(`fingerprint: "{fee}:{s.amount}"`, `string fee = 2; E fee_currency = 3; S s = 4;`) +
				` message S { int64 amount = 1 [(idem.v1.field).missing = MISSING_ERROR]; string currency_code = 2; } enum E { E_UNSPECIFIED = 0; }`,
			want: []string{"has {fee} and not {fee_currency}", "has {s.amount} and not {s.currency_code}"}},
		{name: "named in the key or the fingerprint", rule: currency,
			proto: `message M { option (idem.v1.message) = {idempotency_key: "t.m:v1:{id}:{currency}" fingerprint: "{amount}:{price}:{price_currency}"};
				string id = 1; string currency = 2; string amount = 3; string price = 4; string price_currency = 5; }`},
		{name: "no currency, a list of them, no amount, Money", rule: currency,
			proto: message(`fingerprint: "{amount}:{count}:{price}"`, `string amount = 2; repeated string currency = 3; string count = 4; google.type.Money price = 5; string currency_name = 6;`)},

		{name: "whole word at the end", rule: uuid,
			proto: message(`biz_key: "{uuid}:{order_uuid}:{GUID}:{uuid_hash}:{fluuid}:{id_uuid}"`, `string uuid = 2; google.protobuf.StringValue order_uuid = 3; string GUID = 4;
				string uuid_hash = 5; string fluuid = 6; string id_uuid = 7 [(idem.v1.field).uuid = true];`),
			want: []string{"M.uuid", "M.order_uuid", "M.GUID"}},
		{name: "bytes and not named by a template", rule: uuid, proto: message(`biz_key: "{uuid}"`, `bytes uuid = 2; string order_uuid = 3;`)},
	})
}

// A field of a file that is not linted cannot be mended there.
func TestFindingAboutAnImportedFieldIsAtTheTemplate(t *testing.T) {
	t.Parallel()
	req := gentest.Sources{
		"t.proto":     head + `import "other.proto"; ` + message(`fingerprint: "{other.amount}"`, "other.v1.Other other = 2;"),
		"other.proto": `syntax = "proto3"; package other.v1; message Other { string amount = 1; string price = 2; double fee = 3; }`,
	}
	found := lintOnly(t, "IDEM_DECIMAL_OPTION_MISSING", req, "t.proto")
	require.Len(t, found, 1)
	require.Equal(t, "t.proto", found[0].Position.File)
	require.Empty(t, lintOnly(t, "IDEM_MONEY_FLOAT", req, "t.proto"))
	found = findings(t, "IDEM_MONEY_FLOAT", req, config.Facts{})
	require.Len(t, found, 1)
	require.Equal(t, "other.proto", found[0].Position.File)
}
