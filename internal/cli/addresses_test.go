package cli

import "testing"

func TestAddressesAreChecked(t *testing.T) {
	for url, good := range map[string]bool{
		"": true, "https://plaza.example": true, "http://127.0.0.1:8080/": true, "https://plaza.example/community/": true, "http://[::1]:80": true,
		"plaza.example": false, "plaza.example:443": false, "ftp://plaza.example": false, "https://": false, "https://:443": false,
		"https://ada:secret@plaza.example": false, "https://plaza.example/?x": false, "https://plaza.example#x": false, "https://plaza .example": false,
	} {
		if err := checkAddresses(url, nil); (err == nil) != good {
			t.Errorf("the public URL %q: %v", url, err)
		}
	}
	for origin, good := range map[string]bool{
		"*": true, "null": true, "https://plaza.example": true, "http://localhost:5173": true, "https://*.plaza.example": true, "capacitor://localhost": true,
		"": false, "https://plaza.example/": false, "https://plaza.example/app": false, "plaza.example": false, "https://Plaza.example": false,
		"https://plaza.example?x": false, "//plaza.example": false, "https://ada@plaza.example": false,
	} {
		if err := checkAddresses("", []string{"*", origin}); (err == nil) != good {
			t.Errorf("the origin %q: %v", origin, err)
		}
	}
}
