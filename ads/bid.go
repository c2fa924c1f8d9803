package ads

import (
	"slices"
	"strings"

	"plaza/fault"
)

// Micros is an amount of money in millionths of its currency's unit: 2,500,000 is 2.50 dollars, or
// 2.50 yen.
type Micros int64

// MaxBid is the highest bid: a billion units of a currency. No computation on bids up to it
// overflows.
const MaxBid Micros = 1e15

// BidModel defines what an advertiser pays for.
type BidModel string

// The bid models.
const (
	CPM BidModel = "CPM" // cost per mille: for a thousand impressions
	CPC BidModel = "CPC" // cost per click
	CPA BidModel = "CPA" // cost per action: for a conversion
)

// Mille is the number of impressions that the price of a CPM covers.
const Mille = 1000

// Bid is what an advertiser offers.
type Bid struct {
	Model BidModel
	// Price is 1 to MaxBid, for a thousand impressions, for a click or for a conversion. The price
	// of a CPM is a multiple of 1,000, so that an impression costs whole micros.
	Price    Micros
	Currency Currency
}

func (b *Bid) check(field string) error {
	var model error
	if b.Model != CPM && b.Model != CPC && b.Model != CPA {
		model = fault.Invalidf(fault.Part(field, "model"), "A bid must be a CPM, a CPC or a CPA.")
	}
	return fault.All(model, b.checkPrice(fault.Part(field, "price")), b.Currency.Check(fault.Part(field, "currency")))
}

func (b *Bid) checkPrice(field string) error {
	if b.Price < 1 || b.Price > MaxBid {
		return fault.Invalidf(field, "A bid must be 1 to %d micros.", MaxBid)
	}
	if b.Model == CPM && b.Price%Mille != 0 {
		return fault.Invalidf(field, "A CPM must be a multiple of %d micros, so that an impression costs whole micros.", Mille)
	}
	return nil
}

// Cost returns what one recording of the kind costs.
func (b *Bid) Cost(k Kind) Micros {
	switch {
	case b.Model == CPM && k == Impression:
		return b.Price / Mille
	case b.Model == CPC && k == Click, b.Model == CPA && k == Conversion:
		return b.Price
	default:
		return 0
	}
}

// Currency is an ISO 4217 code in upper case: "EUR".
type Currency string

// Check returns an error that names the field, unless the currency exists.
func (c Currency) Check(field string) error {
	if _, known := slices.BinarySearch(currencies, c); !known {
		return fault.Invalidf(field, "This is not a currency: use an ISO 4217 code such as EUR.")
	}
	return nil
}

// currencies are the codes from list one of ISO 4217 for money that people pay with, sorted. Codes
// for funds, metals, bond units, tests and "no currency" are left out.
var currencies = func() []Currency {
	var list []Currency
	for code := range strings.FieldsSeq(`
		AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
		CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD
		HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL
		LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP
		PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT
		TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG`) {
		list = append(list, Currency(code))
	}
	slices.Sort(list)
	return list
}()
