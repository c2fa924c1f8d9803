package demo

import (
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"plaza/social"
)

// canvas is the size that all motifs are drawn for; pictures of other shapes show the middle of it.
const canvas = `viewBox="0 0 400 300" preserveAspectRatio="xMidYMid slice"`

// drawings returns all pictures of the community as SVG, by name.
func drawings() map[string]string {
	all := map[string]string{}
	for i, p := range cast {
		all[avatarName(p.handle)] = avatar(i)
	}
	for _, p := range photos() {
		name := strings.TrimSuffix(strings.TrimPrefix(p.URL, "photos/"), ".svg")
		all[p.URL] = svg(p.Width, p.Height, p.Caption, motifs[name])
	}
	for _, a := range advertisers {
		for _, c := range a.campaigns {
			for _, u := range c.units {
				all[adPictureName(u.name)] = svg(600, 450, u.headline, motifs[u.motif])
			}
		}
	}
	return all
}

// photos returns the photos in the posts of the script and of the life after it, with their names
// in place of addresses.
func photos() []*social.Photo {
	var all []*social.Photo
	add := func(c social.Content) {
		if c.Photo != nil {
			all = append(all, c.Photo)
		}
	}
	for _, p := range slices.Concat(wall, town) {
		add(p.content)
	}
	for _, s := range scenes {
		add(s.content)
	}
	return all
}

func svg(width, height int, title, motif string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" %s role="img"><title>%s</title>%s</svg>`,
		width, height, canvas, html.EscapeString(title), motif)
}

// avatar draws a person's initials on a colour of their own.
func avatar(i int) string {
	var initials strings.Builder
	for word := range strings.FieldsSeq(cast[i].name) {
		first, _ := utf8.DecodeRuneInString(word)
		initials.WriteRune(first)
	}
	hue := i * 360 / len(cast)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256" viewBox="0 0 256 256" role="img"><title>%s</title>`+
		`<rect width="256" height="256" fill="hsl(%d 45%% 38%%)"/><circle cx="%d" cy="270" r="150" fill="hsl(%d 55%% 55%%)"/>`+
		`<text x="128" y="132" font-family="Georgia, serif" font-size="104" fill="#fff" text-anchor="middle" dominant-baseline="central">%s</text></svg>`,
		html.EscapeString(cast[i].name), hue, 40+(i*67)%180, (hue+35)%360, html.EscapeString(initials.String()))
}

// sea draws a harbour: a sky, a sun or moon, hills, water and a boat.
func sea(sky, light, hills, water, boat string) string {
	return fmt.Sprintf(`<rect width="400" height="190" fill="%s"/><circle cx="290" cy="120" r="34" fill="%s"/>`+
		`<path d="M0 190 Q70 120 150 168 T310 158 T400 176 V190 Z" fill="%s"/><rect y="190" width="400" height="110" fill="%s"/>`+
		`<path d="M250 214h80M262 232h56M272 250h36" stroke="%s" stroke-width="4" stroke-linecap="round" opacity=".6"/>`+
		`<path d="M92 216h110l-18 26h-76z M146 120v90h-4v-90z M150 128l44 74h-44z" fill="%s"/>`, sky, light, hills, water, light, boat)
}

// book draws a bound volume, seen from above.
func book(table, cover, gold string) string {
	return fmt.Sprintf(`<rect width="400" height="300" fill="%s"/><path d="M118 48h182v214H118z" fill="#f3ead6"/>`+
		`<rect x="108" y="40" width="184" height="214" rx="5" fill="%s"/><path d="M132 40v214" stroke="#0005" stroke-width="5"/>`+
		`<rect x="150" y="60" width="122" height="174" rx="3" fill="none" stroke="%s" stroke-width="3"/>`+
		`<path d="M211 112l14 30-14 30-14-30z" fill="%s"/>`, table, cover, gold, gold)
}

// motifs are the subjects of pictures, by name.
var motifs = joined(photoMotifs, lifeMotifs, adMotifs)

func joined(all ...map[string]string) map[string]string {
	one := map[string]string{}
	for _, some := range all {
		maps.Copy(one, some)
	}
	return one
}

// photoMotifs are those of the two weeks before.
var photoMotifs = map[string]string{
	"green-goatskin": book("#c9b08a", "#2f6b4a", "#e2c36b"),
	"slip-1912": `<rect width="400" height="300" fill="#2b211b"/><g transform="rotate(-6 200 150)"><rect x="84" y="82" width="232" height="136" fill="#eaddb8"/>` +
		`<path d="M200 82v136M84 150h232" stroke="#b7a277" stroke-width="2"/><path d="M104 106h168M104 122h188M104 138h140M104 168h100" stroke="#5a4a86" stroke-width="3"/>` +
		`<text x="252" y="192" font-family="Georgia, serif" font-size="15" font-style="italic" fill="#5a4a86">T.W., 1912</text>` +
		`<path d="M100 212v-26h5v5h5v-5h6v5h5v-5h5v26z" fill="none" stroke="#777" stroke-width="2"/></g>`,
	"hull-in-barn": `<rect width="400" height="300" fill="#3a2a20"/><path d="M40 0v300M100 0v300M160 0v300M220 0v300M280 0v300M340 0v300" stroke="#2a1d15" stroke-width="4"/>` +
		`<path d="M300 0l100 0v210z" fill="#e9c47a" opacity=".35"/><path d="M48 150q152 34 304 0q-24 92-96 100h-112q-72-8-96-100z" fill="#8a5a34"/>` +
		`<path d="M56 172q144 32 288 0M70 198q130 28 260 0" stroke="#5b3820" stroke-width="4" fill="none"/><path d="M120 250v38M280 250v38" stroke="#1f1610" stroke-width="10"/>`,
	"sourdough-starter": `<rect width="400" height="300" fill="#d8e0dc"/><rect y="226" width="400" height="74" fill="#8d7a66"/><rect x="138" y="62" width="124" height="182" rx="16" fill="#f6f8f8" opacity=".85"/>` +
		`<rect x="144" y="116" width="112" height="122" rx="10" fill="#efe0c0"/><rect x="130" y="48" width="140" height="22" rx="6" fill="#c4553b"/>` +
		`<g fill="#d8c292"><circle cx="170" cy="140" r="9"/><circle cx="206" cy="156" r="13"/><circle cx="236" cy="134" r="7"/><circle cx="184" cy="190" r="8"/><circle cx="228" cy="196" r="10"/></g>`,
	"nevoeiro": `<rect width="400" height="300" fill="#b9c2c6"/><path d="M0 210q100-50 200-20t200-16v126H0z" fill="#9aa6ab"/><path d="M0 246q120-30 220-8t180-14v76H0z" fill="#808d93"/>` +
		`<path d="M96 250V96h6v154z" fill="#4a5257"/><circle cx="99" cy="92" r="40" fill="#fff4cf" opacity=".5"/><circle cx="99" cy="92" r="12" fill="#fff4cf"/>` +
		`<path d="M250 232h70l-12 16h-46z M284 172v60h-4v-60z" fill="#66727a"/><rect y="150" width="400" height="36" fill="#fff" opacity=".25"/>`,
	"first-loaf": `<rect width="400" height="300" fill="#efe6da"/><rect y="206" width="400" height="94" fill="#a98057"/><ellipse cx="200" cy="226" rx="128" ry="16" fill="#6e4c2e" opacity=".5"/>` +
		`<path d="M80 210q0-108 120-108t120 108q0 16-120 16T80 210z" fill="#b4713a"/><path d="M136 136q26 34 20 74M196 112q22 44 12 98M256 130q14 40 2 80" stroke="#f0d9a6" stroke-width="9" fill="none" stroke-linecap="round"/>`,
}

// lifeMotifs are the subjects of the posts that are made while a server runs.
var lifeMotifs = map[string]string{
	"harbour-at-six":  sea("#f3c89b", "#fff0c2", "#7b6a86", "#47647f", "#2a3140"),
	"harbour-at-nine": sea("#27314f", "#f2efd9", "#1b2238", "#131b30", "#0b0f1c"),
	"logbook-drying":  book("#7f8a86", "#6a2f2a", "#d9b667"),
}

// adMotifs are those of ads.
var adMotifs = map[string]string{
	"ferry":       sea("#9fd0e8", "#fff6cf", "#5f8f6d", "#2f7ea3", "#ffffff"),
	"night-ferry": sea("#1f2a55", "#ffe9a8", "#141c3a", "#101838", "#e8eefc"),
	"notebook":    book("#e8ded0", "#3c4a63", "#f0e6cf"),
	"thread": `<rect width="400" height="300" fill="#f2ece1"/><path d="M150 70h100v22H150zM150 208h100v22H150z" fill="#a4743f"/><rect x="162" y="92" width="76" height="116" fill="#b23a48"/>` +
		`<path d="M162 108h76M162 124h76M162 140h76M162 156h76M162 172h76M162 188h76" stroke="#7f2431" stroke-width="3"/><path d="M238 188q70 10 60-40t70-46" stroke="#b23a48" stroke-width="4" fill="none"/>`,
}
