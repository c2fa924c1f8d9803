package demo

import "plaza/social"

// scene is a post of the life, and the others' replies to it.
type scene struct {
	by      string
	content social.Content
	lines   []line
}

// line is a comment or a reaction.
type line struct {
	by       string
	text     string
	reply    bool // to the comment before it, and not to the post
	reaction social.ReactionKind
}

func says(by, text string) line    { return line{by: by, text: text} }
func replies(by, text string) line { return line{by: by, text: text, reply: true} }

func reacts(by string, reaction social.ReactionKind) line { return line{by: by, reaction: reaction} }

// reactions returns how many of the lines are reactions.
func (s scene) reactions() (n int) {
	for _, line := range s.lines {
		if line.reaction != "" {
			n++
		}
	}
	return n
}

// scenes are the events in the town, in turn. All are public, on their author's wall, and each has
// a distinct text.
var scenes = []scene{
	{"omar", status("The soup is on: leek, potato and one decision that I'll explain when you've tasted it."), []line{
		says("sam", "Is it a leek you'd spring on anybody?"),
		replies("omar", "You pay double today."),
		reacts("grace", laugh),
	}},
	{"nadia", status("Seeing is 1.8 arcseconds and improving. Jupiter is above the roof of the fish market from 21:10. Bring a coat."), []line{
		says("ines", "I'm bringing the long lens and a flask."),
		reacts("kofi", like),
		replies("nadia", "The flask is the more important instrument."),
	}},
	{"sam", status("Counted eleven avocets on the mud flats before the first letterbox. The twelfth was a plastic bag with ambition."), []line{
		reacts("ines", laugh),
		says("kofi", "Eleven is prime. Leave it."),
	}},
	{"ines", photo("harbour-at-six", 1600, 1200, "Six o'clock, no filter, cold fingers."), []line{
		reacts("nadia", love),
		says("linus", "That's my mooring. It never looks like that when I'm there."),
		replies("ines", "You're usually in front of it."),
	}},
	{"linus", status("Third coat of varnish. If anybody opens the shed door before tomorrow I'll know, because there will be a moth in it for ever."), []line{
		says("theo", "what if the moth opens it"),
		reacts("mei", laugh),
	}},
	{"grace", status("Night seven of seven. The vending machine and I are on first-name terms. Hers is E4."), []line{
		says("kofi", "A strong opening."),
		reacts("rosa", love),
		replies("grace", "I answered with coffee."),
	}},
	{"mei", checkin("The Overhang", 40.8689, -8.6541, "New blue route on the north wall! It looks like a 6a! It isn't!"), []line{
		says("sam", "I can feel myself falling for it already."),
		reacts("grace", wow),
	}},
	{"rosa", status("Would whoever borrowed my garden ladder please return it, or at least send a photograph of where it is happy now. Mum"), []line{
		says("mei", "It's at the Overhang! It's fine! It's very useful!"),
		replies("rosa", "Thank you, Mei. Please wipe it. Mum"),
		reacts("omar", laugh),
	}},
	{"kofi", status("Puzzle for the queue at Omar's: three cups, two spoons, one true statement. The spoons lie. Where is the sugar?"), []line{
		says("omar", "There is no sugar. You've used it all for demonstrations."),
		reacts("theo", like),
		replies("kofi", "Correct, and full marks."),
	}},
	{"theo", status("found a pebble with three kinds of layers in it. four hundred million years to make and it fits in my pocket. anyway the rent is late"), []line{
		says("rosa", "It is a lovely pebble, Theo. It is not legal tender. Mum"),
		reacts("nadia", love),
	}},
	{"lucia", link("archive/tide-tables", "Tide tables, 1900 to 1920, now readable", "Scanned last week, with all the coffee rings. If you look for a certain April, it is on sheet 41."), []line{
		reacts("nadia", wow),
		says("nadia", "Sheet 41 has a note in the margin. Violet ink."),
		replies("lucia", "I was hoping that somebody would see it."),
	}},
	{"omar", status("Somebody has left a single glove, left hand, with a chess problem drawn on it in pen. It's White to move. It's also quite a nice glove."), []line{
		says("kofi", "Mine. And it is Black to move, which is the point of the problem."),
		reacts("sam", laugh),
	}},
	{"nadia", status("The barometer has dropped four hectopascals since breakfast. Take your washing in, or think of it as rinsing."), []line{
		says("grace", "It's already rinsing. Thank you."),
		reacts("rosa", like),
	}},
	{"sam", status("Delivered a parcel marked FRAGILE to a house called Robust. They signed for it with a very thin pen."), []line{
		reacts("omar", laugh),
		says("linus", "Number 14. They've got a good bench."),
	}},
	{"ines", photo("harbour-at-nine", 1600, 1067, "Nine o'clock. The same wall, the same camera, another town."), []line{
		says("theo", "the moon is doing a lot of work here"),
		reacts("mei", love),
		replies("ines", "She's on salary."),
	}},
	{"linus", status("The boat from the barn floats. For eleven minutes, so far. Nobody gets to name her until it's a full hour."), []line{
		says("sam", "Buoyant mood, then."),
		reacts("theo", wow),
		replies("linus", "Out."),
	}},
	{"grace", status("The starter has doubled and is pushing at the lid. I've put a plate on it. The plate is losing."), []line{
		says("omar", "Bring it here. I've got a heavier plate and a use for it."),
		reacts("linus", laugh),
	}},
	{"bruno", status("🚀 3 things that sourdough taught me about SCALE. (Thread.) (DM me for the thread.)"), []line{
		says("grace", "One of them had better be flour."),
	}},
	{"mei", status("Who is up for a night climb along the sea wall? Low tide is at 22:40! I have four lamps and three batteries!"), []line{
		says("grace", "I'm off tonight. I'll bring batteries."),
		reacts("sam", like),
		replies("mei", "This is why you're my favourite nurse!"),
	}},
	{"rosa", photo("logbook-drying", 1200, 900, "The harbour master's other logbook, drying on my kitchen table. It is a guest, and it has been told to keep its elbows in. Mum"), []line{
		reacts("lucia", love),
		says("lucia", "There were two? Nobody has ever said that there were two."),
		replies("rosa", "Nobody asked, dear. Mum"),
	}},
	{"kofi", status("Chess club, results: Linus beat me, Nadia beat Linus, the cat beat everybody by sitting on h8."), []line{
		says("nadia", "A rook ending with a cat is a draw at best."),
		reacts("linus", laugh),
	}},
	{"theo", status("went back to the tide mill at low water. the slipway has a second step. i am not saying anything. there is a second step"), []line{
		reacts("linus", wow),
		says("linus", "How wide?"),
		replies("theo", "boat wide"),
	}},
	{"lucia", status("A visitor has asked whether the archive has a loyalty card. It has now: the tenth box that you carry back is free of dust."), []line{
		says("sam", "Box office success."),
		reacts("ines", like),
	}},
	{"omar", checkin("Café Meridian", 40.8702, -8.6598, "Open late tonight, for everybody who is going to look for a boat and for everybody who isn't and would like to hear about it."), []line{
		says("kofi", "Keep the corner table. I'm bringing the survey map."),
		reacts("rosa", like),
		replies("omar", "It has your name on it. Literally, somebody has carved it."),
	}},
}

// talk is what people say about what fell out of the logbook, in turn. Each line has a distinct
// text.
var talk = []line{
	says("theo", "i have a head torch and no plans"),
	says("linus", "Measured the old slipway's angle on the plan. One in nine. That's a boat's, not a cart's."),
	says("nadia", "I have drawn the line again with the corrected longitude. It moves forty metres towards the mill."),
	says("sam", "Forty metres closer to a mill-stone of an answer."),
	says("rosa", "Tomás kept his tools at the mill, in a green chest. I only remember it now. Mum"),
	says("kofi", "A chest is evidence. A green chest is a detail. Details are how one tells a witness from a storyteller."),
	says("mei", "I can get us onto that roof! I mean, if it has one! I mean, I have rope either way!"),
	says("grace", "I'm off until Thursday. I have a first-aid kit and a loaf."),
	says("omar", "The loaf is the better insurance. I'll add soup."),
	says("ines", "Looked at the negative of the slip again: there's a pinprick beside the rook. Somebody has had it on a board."),
	says("lucia", "The mill was sold in June 1912, for one crown, to a buyer whose name is a blot."),
	says("theo", "one crown for a whole mill?? in this economy"),
	says("linus", "One crown is what you pay when you don't want to be asked."),
	says("nadia", "Low water tomorrow at 11:52. The footings should be dry for fifty minutes."),
	says("sam", "Then let's not be tide down by details."),
	says("kofi", "Who votes for the chapel, and why is it Mei?"),
	says("mei", "Because of the WALL, Kofi!"),
	says("rosa", "Whoever goes, please put on proper shoes. Mum"),
	says("lucia", "I have found the blot's other half, on the back of the page. It begins with a W."),
	says("ines", "I want that page in raking light before anybody breathes on it."),
	says("grace", "Nobody is breathing. I can confirm that professionally."),
	says("omar", "Table for nine, then. The map goes on the wall, the soup does not."),
}
