// Package learning has the command learn: rules from what people approved, shown, chosen and written.
package learning
