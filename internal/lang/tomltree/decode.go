package tomltree

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/lang/diag"
)

// Decode decodes a table into the struct that into points to. Fields have the tag `toml:"key"`,
// with ",required" if the key must be present; a field without a tag is ignored, an embedded struct
// counts as its fields. A field whose key is absent, or any field for a nil table, keeps its value,
// so that defaults can be set before.
//
// Types: bool, the integers, float64, string, time.Duration as "1m30s", every
// encoding.TextUnmarshaler as a string, slices, maps by string, structs and pointers to these, and
// *Value for a subtree as it is.
//
// Every mistake is found in one run: unknown keys, wrong types, values out of range and missing
// keys, each with its position.
func Decode(table *Value, into any) diag.List {
	d := &decoder{}
	if table != nil {
		d.table(table, reflect.ValueOf(into).Elem(), "")
	}
	return d.diags
}

type decoder struct{ diags diag.List }

func (d *decoder) report(code diag.Code, v *Value, at diag.Range, message, hint string) {
	d.diags.Add(diag.Diagnostic{Code: code, File: v.File(), Range: at, Message: message, Hint: hint})
}

func (d *decoder) wrong(v *Value, path, want string) {
	d.report(diag.WrongType, v, v.Range, fmt.Sprintf("`%s` must be %s, not %s", path, want, v.Kind), "")
}

// setting is one field of a struct.
type setting struct {
	key      string
	required bool
	field    reflect.Value
}

func settings(s reflect.Value) []setting {
	var list []setting
	for i := range s.NumField() {
		f := s.Type().Field(i)
		tag, ok := f.Tag.Lookup("toml")
		if !ok {
			if f.Anonymous {
				list = append(list, settings(s.Field(i))...)
			}
			continue
		}
		key, options, _ := strings.Cut(tag, ",")
		list = append(list, setting{key: key, required: options == "required", field: s.Field(i)})
	}
	return list
}

func (d *decoder) table(t *Value, s reflect.Value, path string) {
	if t.Kind != Table {
		d.wrong(t, path, "a table")
		return
	}
	known := settings(s)
	var keys []string
	for _, k := range known {
		keys = append(keys, k.key)
		e := t.Get(k.key)
		switch {
		case e != nil:
			d.value(e.Value, k.field, join(path, k.key))
		case k.required:
			d.report(diag.MissingKey, t, t.Range, "`"+join(path, k.key)+"` is missing", "")
		}
	}
	for _, e := range t.Entries {
		if !contains(keys, e.Key) {
			d.report(diag.UnknownKey, t, e.KeyRange, "unknown key "+quoteKey(e.Key), diag.DidYouMean(e.Key, keys))
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return Key(key)
	}
	return path + "." + Key(key)
}

func contains(keys []string, key string) bool {
	for _, k := range keys {
		if k == key {
			return true
		}
	}
	return false
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	valueType    = reflect.TypeFor[*Value]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// value sets a field from a value.
func (d *decoder) value(v *Value, to reflect.Value, path string) {
	switch {
	case to.Type() == valueType:
		to.Set(reflect.ValueOf(v))
		return
	case to.Type() == durationType:
		d.duration(v, to, path)
		return
	case to.CanAddr() && to.Addr().Type().Implements(textType):
		d.text(v, to.Addr().Interface().(encoding.TextUnmarshaler), path)
		return
	}
	switch to.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(to.Type().Elem())
		d.value(v, fresh.Elem(), path)
		to.Set(fresh)
	case reflect.Struct:
		d.table(v, to, path)
	case reflect.Map:
		d.members(v, to, path)
	case reflect.Slice:
		d.elements(v, to, path)
	case reflect.String:
		if v.Kind != String {
			d.wrong(v, path, "a string")
			return
		}
		to.SetString(v.Text)
	case reflect.Bool:
		if v.Kind != Bool {
			d.wrong(v, path, "true or false")
			return
		}
		to.SetBool(v.Text == "true")
	case reflect.Float64:
		d.float(v, to, path)
	default:
		d.integer(v, to, path)
	}
}

func (d *decoder) members(v *Value, to reflect.Value, path string) {
	if v.Kind != Table {
		d.wrong(v, path, "a table")
		return
	}
	fresh := reflect.MakeMap(to.Type())
	for _, e := range v.Entries {
		member := reflect.New(to.Type().Elem()).Elem()
		d.value(e.Value, member, join(path, e.Key))
		fresh.SetMapIndex(reflect.ValueOf(e.Key).Convert(to.Type().Key()), member)
	}
	to.Set(fresh)
}

func (d *decoder) elements(v *Value, to reflect.Value, path string) {
	if v.Kind != Array {
		d.wrong(v, path, "an array")
		return
	}
	fresh := reflect.MakeSlice(to.Type(), len(v.Elements), len(v.Elements))
	for i, e := range v.Elements {
		d.value(e, fresh.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	to.Set(fresh)
}

func (d *decoder) duration(v *Value, to reflect.Value, path string) {
	if v.Kind != String {
		d.wrong(v, path, `a duration such as "30s"`)
		return
	}
	length, err := time.ParseDuration(v.Text)
	if err != nil || length < 0 {
		d.report(diag.BadValue, v, v.Range, "`"+path+"` must be a duration such as \"1m30s\"", "")
		return
	}
	to.SetInt(int64(length))
}

func (d *decoder) text(v *Value, to encoding.TextUnmarshaler, path string) {
	if v.Kind != String {
		d.wrong(v, path, "a string")
		return
	}
	if err := to.UnmarshalText([]byte(v.Text)); err != nil {
		d.report(diag.BadValue, v, v.Range, "`"+path+"`: "+err.Error(), "")
	}
}

func (d *decoder) integer(v *Value, to reflect.Value, path string) {
	if v.Kind != Integer {
		d.wrong(v, path, "an integer")
		return
	}
	// Base 0 reads the TOML spellings: underscores, 0x, 0o, 0b.
	n, err := strconv.ParseInt(v.Text, 0, 64)
	fits := err == nil
	if fits && to.CanUint() {
		fits = n >= 0 && !to.OverflowUint(uint64(n))
		if fits {
			to.SetUint(uint64(n))
		}
	} else if fits {
		if fits = !to.OverflowInt(n); fits {
			to.SetInt(n)
		}
	}
	if !fits {
		d.report(diag.BadValue, v, v.Range, "`"+path+"` is out of range", "")
	}
}

func (d *decoder) float(v *Value, to reflect.Value, path string) {
	if v.Kind != Integer && v.Kind != Float {
		d.wrong(v, path, "a number")
		return
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(v.Text, "_", ""), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		d.report(diag.BadValue, v, v.Range, "`"+path+"` is out of range", "")
		return
	}
	to.SetFloat(f)
}
