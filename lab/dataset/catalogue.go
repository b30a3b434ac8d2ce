package dataset

// sets are the data sets. Checksums are those of files prepared from the originals,
// with all counts checked; the publishers of the originals state none.
var sets = []Set{
	{
		Name: "cora", Short: "Cora", Title: "citations between machine-learning papers in seven topics", Home: "https://linqs.org/datasets/",
		Licence: "none stated", Nodes: 2485, Edges: 5069, Degree: 168, read: readCoraGraph,
		Forms: []Form{
			{Files: []File{
				{"cora/cora.cites.gz", 22663, "1d72ee65eebd64a5249e2dc87e64cf477a40fa24db1e74263f097cb30e5fedc5"},
				{"cora/cora_labels.csv.gz", 12060, "75d02dbbf8f5067a08b100271e8c72d5ef3212a29d0d8a462b3e4dbbb00ff864"},
			}},
			{URL: "https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz", Files: []File{{Path: "cora/cora.tgz"}}},
		},
	},
	{
		Name: "traffic", Short: "San Jose", Title: "freeway speeds in San Jose, on the OpenStreetMap road network",
		Home:    "https://github.com/vabor112/pems-regression",
		Licence: "roads © OpenStreetMap contributors, ODbL 1.0; the benchmark Apache-2.0", Nodes: 1016, Edges: 1172, Degree: 4,
		read: readTrafficGraph,
		Forms: []Form{{Files: []File{
			{trafficEdges, 24257, "aa9955ffb68ecf2456e7d5015ef8f2b433879cd5165a686a6b9359030a6c3ac6"},
			{trafficNodes, 18078, "5e6e2ee8634f6ba9239d6c9305b45c0fcac51fb7ea4ff8ada2437a5621bd3dfb"},
			{trafficSpeeds, 2155, "da7245573cd234b1440a16f253db9cd3d3c964b87b42ff2a3ffb937b26f2fdf4"},
			{trafficSplits, 4242, "c1d601a6455347c8d9d7f2a0fcfc4b0637c27a21fa84f5866464d8140913fae6"},
			{trafficReference, 738, "aefc88a414c2b37865e544c9584a98286a6dc1ba2ac1885907d7395a1aa11e8d"},
		}}},
	},
	{
		Name: "wind", Short: "ERA5", Title: "ERA5 monthly mean wind at three pressure levels, January 2010, and a satellite track",
		Home:    "https://cds.climate.copernicus.eu",
		Licence: "Licence to Use Copernicus Products; contains modified Copernicus Climate Change Service information 2010", Nodes: 10512,
		Edges: 20880, Degree: 4, read: readWindGraph,
		Note: "the paper states 1,441 training nodes, which are points of the track, on 1,424 distinct nodes; the authors' files swap the " +
			"names of the levels 1000 hPa and 500 hPa, which are correct here",
		Forms: []Form{{Files: []File{
			{windEdges, 90110, "f5c9f65af3a6816f5e0de12924004954fd367279a5c41163b476384e6695a7fb"},
			{windSpeeds, 332978, "87045b869326710916b9019ff5507a600729daa36f838b7e57c4bfca296aa7aa"},
			{windTrack, 3133, "b5eae9c0dc4ddf48d54ec1994466be57cc7ace70f86013a90b0d26134f0c9c77"},
		}}},
	},
	{
		Name: "enron", Short: "Enron", Title: "email contacts at Enron", Home: "https://snap.stanford.edu/data/email-Enron.html",
		Licence: "none stated", Nodes: 36692, Edges: 183831, Degree: 1383, read: readPairs(""),
		Note: "the paper's table states 36,652 nodes; all else agrees with 36,692",
		Forms: []Form{
			{Files: []File{{"snap/email-Enron.edges.csv.gz", 512871, "b6590ab395dfed78b10669b26faa5af6ecee93f556c4bfeb605aa58822fbe618"}}},
			{URL: "https://snap.stanford.edu/data/email-Enron.txt.gz", Files: []File{{Path: "snap/email-Enron.txt.gz"}}},
		},
	},
	{
		Name: "facebook", Short: "Facebook", Title: "Facebook pages that like each other",
		Home:    "https://snap.stanford.edu/data/facebook-large-page-page-network.html",
		Licence: "MIT, as the author's repository", Nodes: 22470, Edges: 170823, Degree: 709, read: readPairs("musae_facebook_edges.csv"),
		Note: "the paper counts 179 self loops as edges: 171,002",
		Forms: []Form{
			{Files: []File{{"snap/musae_facebook_edges.csv.gz", 638700, "efb0ef6cf14e6fb15df6f748696c745b3a6c0b68269131535663e0621a5a2073"}}},
			{URL: "https://snap.stanford.edu/data/facebook_large.zip", Files: []File{{Path: "snap/facebook_large.zip"}}},
		},
	},
	{
		Name: "twitch", Short: "Twitch", Title: "Twitch users who follow each other", Home: "https://snap.stanford.edu/data/twitch_gamers.html",
		Licence: "none stated", Nodes: 168114, Edges: 6797557, read: readPairs("large_twitch_edges.csv"),
		Forms: []Form{{URL: "https://snap.stanford.edu/data/twitch_gamers.zip", Files: []File{{Path: "snap/twitch_gamers.zip"}}}},
	},
	{
		Name: "youtube", Short: "YouTube", Title: "friendships on YouTube", Home: "https://snap.stanford.edu/data/com-Youtube.html",
		Licence: "none stated", Nodes: 1134890, Edges: 2987624, read: readPairs(""),
		Forms: []Form{{URL: "https://snap.stanford.edu/data/bigdata/communities/com-youtube.ungraph.txt.gz",
			Files: []File{{Path: "snap/com-youtube.ungraph.txt.gz"}}}},
	},
	{
		Name: "twitter", Short: "Twitter", Title: "follower circles on Twitter", Home: "https://snap.stanford.edu/data/ego-Twitter.html",
		Licence: "none stated", StandIn: "twitch", Nodes: 81306, Edges: 1342296, Degree: 3383, read: readPairs(""),
		Note: "the prepared file numbers nodes differently from the download: the same graph, but other random draws",
		Forms: []Form{
			{Files: []File{{"snap_substitutes/ego-Twitter_undirected.edges.csv.gz", 3394051,
				"ade45b383712cb98dd840a80217f2be52adca1c33b6405fff77a68c5c76e03c1"}}},
			{URL: "https://snap.stanford.edu/data/twitter_combined.txt.gz", Files: []File{{Path: "snap_substitutes/twitter_combined.txt.gz"}}},
		},
	},
	{
		Name: "notredame", Short: "Notre Dame", Title: "links between web pages of the University of Notre Dame",
		Home:    "https://snap.stanford.edu/data/web-NotreDame.html",
		Licence: "none stated", StandIn: "youtube", Nodes: 325729, Edges: 1090108, Degree: 10721, read: readPairs(""),
		Note: "a web graph, not a social network, with 0.29 times as many nodes as YouTube",
		Forms: []Form{
			{Files: []File{{"snap_substitutes/web-NotreDame_undirected.edges.csv.gz", 2780052,
				"9892626271a9e82f87467c7ba8a9638a110dc0f15c7d38bb9e079324d7b42760"}}},
			{URL: "https://snap.stanford.edu/data/web-NotreDame.txt.gz", Files: []File{{Path: "snap_substitutes/web-NotreDame.txt.gz"}}},
		},
	},
	{
		Name: "anaheim", Short: "Anaheim", Title: "traffic volumes on the road links of Anaheim, with covariates", Home: transportHome,
		Licence: transportLicence, Nodes: 914, Edges: 3881, Degree: 17, read: readKnown("anaheim"), Note: notOfThePaper,
		Forms: []Form{{Files: []File{
			{"transport/anaheim_edges.csv.gz", 8981, "656daac5b269b3efb3583e5d444fe3a36f4e99b8a103efe784d36572c6547049"},
			{"transport/anaheim_nodes.csv.gz", 10275, "020e53f5278a05a7d6b04f9eeca1d71a4c32e4ba9cdf6644acf2a0e10e609e2b"},
		}}},
	},
	{
		Name: "chicago", Short: "Chicago", Title: "traffic volumes on the road links of Chicago, with covariates", Home: transportHome,
		Licence: transportLicence, Nodes: 2950, Edges: 21807, Degree: 29, read: readKnown("chicago"), Note: notOfThePaper,
		Forms: []Form{{Files: []File{
			{"transport/chicago_edges.csv.gz", 48236, "a117082fbab5429fe7d64e53e249c814f2604c875f56eb67c432c2f8e0227459"},
			{"transport/chicago_nodes.csv.gz", 42456, "25f7541067edf3e233b70073158becbaf26b6d4f82d2b7d4868bc3b38afa3d75"},
		}}},
	},
	{
		Name: "streamers-english", Short: "streamers, English",
		Title: "English streamers on Twitch who follow each other, and views of their channels", Home: streamersHome,
		Licence: "MIT", Nodes: 7126, Edges: 35324, Degree: 720, read: readKnown("streamers-english"), Note: notOfThePaper,
		Forms: []Form{{Files: []File{
			{"twitch_small/engb_edges.csv.gz", 114164, "24e1f82312f853a22dbdf3a89fb26594a25fe2289df5fbc6ba6c00096acbcf9a"},
			{"twitch_small/engb_nodes.csv.gz", 52563, "41b5d905f594f429d3b66306ee50264646b541767a7fefa660d9965c94ad653d"},
		}}},
	},
	{
		Name: "streamers-spanish", Short: "streamers, Spanish",
		Title: "Spanish streamers on Twitch who follow each other, and views of their channels", Home: streamersHome,
		Licence: "MIT", Nodes: 4648, Edges: 59382, Degree: 1022, read: readKnown("streamers-spanish"), Note: notOfThePaper,
		Forms: []Form{{Files: []File{
			{"twitch_small/es_edges.csv.gz", 170318, "c8e8b805853e727a93d2cb16c88a1029625b3c6da04beb71fab856c599295ccc"},
			{"twitch_small/es_nodes.csv.gz", 34393, "9ab795e8f9fec8d694d8960a6e0d7629d796f8a56ef540f90985ef92deccd21d"},
		}}},
	},
	{
		Name: "cora-words", Short: "Cora with words", Title: "all of Cora, with the words of the papers", Home: "https://github.com/tkipf/gcn",
		Licence: "none stated", Nodes: 2708, Edges: 5278, Degree: 168, read: readKnown("cora-words"), Note: notOfThePaper,
		Forms: []Form{{Files: []File{
			{"cora_words/edges.csv.gz", 18132, "84a49575c94a20549576f6cd3fa3184341324d5d87f2ae21a6a0e77063cabfde"},
			{"cora_words/labels.csv.gz", 6870, "c624f8e738a2f22e71f5f33bce0437f422badc025629f6e57ad7f95aff1f71d6"},
			{"cora_words/words.csv.gz", 139142, "fb30f57ec64fae024d835d5eba70ec3a9553f8ef56a645ed4468e512c801cf94"},
		}}},
	},
	{
		Name: "lip-cancer", Short: "lip cancer", Title: "lip cancer in the districts of Scotland, 1975 to 1980: observed and expected cases",
		Home:    "https://mc-stan.org/users/documentation/case-studies/icar_stan.html",
		Licence: "none stated", Nodes: 56, Edges: 132, Degree: 11, read: readKnown("lip-cancer"), Note: notOfThePaper,
		Forms: []Form{{Files: []File{
			{"lip_cancer/districts.csv", 713, "8dfbfeb0e342e359fbb806881dd91ad5fdc804503d73c6f90b59ce04304d7c35"},
			{"lip_cancer/edges.csv", 766, "04ac2dfc02c7de81cbe0592a8d1d7b70210275dbf026e967ecc429bae6868bc7"},
		}}},
	},
}

const (
	transportHome    = "https://github.com/bstabler/TransportationNetworks"
	transportLicence = "for academic research, with attribution"
	streamersHome    = "https://snap.stanford.edu/data/twitch-social-networks.html"
	notOfThePaper    = "not of the paper"
)
