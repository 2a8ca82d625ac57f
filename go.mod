module utvi

go 1.26
