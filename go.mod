module vbng

go 1.26
