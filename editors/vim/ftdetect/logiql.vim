autocmd BufRead,BufNewFile *.logic setfiletype logiql
