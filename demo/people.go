package demo

import (
	"time"

	"plaza/social"
)

// The account to sign in with. Everyone in the demo has the same password.
const (
	handle   = "ada"
	password = "plaza-demo" // published, so it protects nothing
)

// person is one of the community.
type person struct {
	handle, name, bio string
	wall              social.WallPolicy // "": everyone may post there
}

// cast is everyone, in the order in which they signed up. The first is the account to sign in with.
var cast = []person{
	{
		handle: "ada", name: "Ada Winter",
		bio: "Bookbinder on the plaza, second door after the café. I mend what rain, cats and time have done to paper. Learning to climb, unlearning to resign too early at chess.",
	},
	{
		handle: "omar", name: "Omar Haddad",
		bio: "Café Meridian. Open from seven until the last story is told. The soup is always vegetarian and never the same.",
	},
	{
		handle: "grace", name: "Grace Okafor",
		bio: "Night nurse. Sourdough parent. If I liked your post at 4 a.m., I was on a break, not awake by choice.",
	},
	{
		handle: "linus", name: "Linus Berg",
		bio:  "Wooden boats. Repairs. No, I can't look at your dishwasher.",
		wall: social.WallFollowed,
	},
	{
		handle: "rosa", name: "Rosa Winter",
		bio: "Retired schoolteacher. Mother of Ada and Theo, who were both taught to write in whole sentences.",
	},
	{
		handle: "theo", name: "Theo Winter",
		bio: "geology student, professional couch borrower. rocks are just slow news",
	},
	{
		handle: "nadia", name: "Nadia Petrova",
		bio: "Astronomer at the hill observatory (40.88° N, 8.64° W, 212 m). All times are local unless I say UTC.",
	},
	{
		handle: "sam", name: "Sam Brennan",
		bio: "Postman, birdwatcher, repeat offender. I deliver letters and puns; only the letters are requested.",
	},
	{
		handle: "mei", name: "Mei Tanaka",
		bio: "Route setter at The Overhang. If you fell off it, I probably built it. Sorry! (Not sorry!)",
	},
	{
		handle: "ines", name: "Inês Duarte",
		bio: "Photographer. Film, mostly. Light, always.",
	},
	{
		handle: "kofi", name: "Kofi Mensah",
		bio: "I teach mathematics by day and run the chess club by evening. Patience is a piece that moves last.",
	},
	{
		handle: "bruno", name: "Bruno Falk",
		bio: "🚀 Founder. Mentor. Visionary. Helping harbour-based businesses 10× their mindset. Ask me about my course!",
	},
	{
		handle: "vic", name: "Vic Sterling",
		bio:  "Somebody has to say it.",
		wall: social.WallNobody,
	},
	{
		handle: "lucia", name: "Lúcia Prieto",
		bio: "Town archive, open from ten to four. Pencils only, please. New here, and looking for the good benches.",
	},
}

// id returns the id of the ith person. The first is as old as the community, and the others joined
// within the hour.
func (p person) id(began time.Time, i int) social.UserID {
	return social.UserID{ID: derive(began.Add(joinedAfter(i)), "user/"+p.handle, 0)}
}

func joinedAfter(i int) time.Duration { return time.Duration(i) * 3 * time.Minute }

func castHandles() []string {
	handles := make([]string, len(cast))
	for i, p := range cast {
		handles[i] = p.handle
	}
	return handles
}
