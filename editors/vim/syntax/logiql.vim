" Vim syntax of LogiQL.

if exists('b:current_syntax')
  finish
endif

" The characters of a word, independent of 'iskeyword'.
syntax iskeyword @,48-57,_,192-255,$

" Vim takes the last defined of the items that begin at one place. A name may
" have letters of all scripts, and colons before its last part.
syntax match logiqlVariable /[?$]\?\%(\a\|_\|[^\x00-\x7f]\)\%(\w\|\$\|[^\x00-\x7f]\|:\%(\a\|_\|[^\x00-\x7f]\)\@=\)*/
syntax match logiqlPredicate /[?$]\?\%(\a\|_\|[^\x00-\x7f]\)\%(\w\|\$\|[^\x00-\x7f]\|:\%(\a\|_\|[^\x00-\x7f]\)\@=\)*\ze\s*[([@]/
syntax match logiqlPredicate /`\%(\a\|_\|[^\x00-\x7f]\)\%(\w\|\$\|[^\x00-\x7f]\|:\%(\a\|_\|[^\x00-\x7f]\)\@=\)*/
syntax match logiqlBoolean /\<\%(true\|false\)\>\%([$:]\|[^\x00-\x7f]\)\@!/
syntax match logiqlKeyword /\<in\ze\s*{/
syntax match logiqlKeyword /\<\%(if\|then\|else\)\>\%([$:]\|[^\x00-\x7f]\)\@!/

syntax match logiqlType /\<\%(boolean\|u\?int\|float\|decimal\|datetime\|string\)\>\ze\s*\%(\[\d\+\%(,\s*\d\+\)\?\]\)\?\s*(/
syntax match logiqlFunction /\<\%(boolean\|u\?int\%(8\|16\|32\|64\)\?\|float\%(32\|64\)\?\|decimal\%(64\|128\)\?\|datetime\|string\):\a[[:alnum:]_:]*/
syntax match logiqlAggregate /\%(=\s*\)\@<=\h\w*\ze\s*(/ contained
syntax match logiqlDirective /\<lang:\%(\a\|_\)\%(\w\|[$:]\)*/

syntax match logiqlNumber /\<\d\+\%(\.\d\+\)\?\%([eE][+-]\?\d\+f\?\|[df]\)\?/
syntax match logiqlOperator /<--\|-->\|<-\|->\|<=\|>=\|!=\|+=\|[-=<>+*\/^!@:]/
syntax match logiqlDatetime /#\d[^#]*#/

syntax match logiqlSpecifier /\<\%(agg\|seq\|list\|list_to_seq\|series\|predict\|uid\)\ze\s*<</
syntax region logiqlSpecified matchgroup=logiqlOperator start=/<</ end=/>>/ contains=ALLBUT,logiqlEscape

syntax match logiqlEscape /\\\%(u\x\{4}\|.\)/ contained
syntax region logiqlString start=/"/ end=/"\|$/ contains=logiqlEscape
syntax region logiqlString start=/"""/ end=/"""/ contains=logiqlEscape
syntax match logiqlComment /\/\/.*/
syntax region logiqlComment start=/\/\*/ end=/\*\//
syntax match logiqlComment /^\s*#\%(line\)\?\s\+\d.*/

syntax sync fromstart

highlight default link logiqlVariable Identifier
highlight default link logiqlPredicate Function
highlight default link logiqlFunction Special
highlight default link logiqlAggregate Special
highlight default link logiqlType Type
highlight default link logiqlBoolean Boolean
highlight default link logiqlDirective PreProc
highlight default link logiqlNumber Number
highlight default link logiqlDatetime Constant
highlight default link logiqlOperator Operator
highlight default link logiqlSpecifier Keyword
highlight default link logiqlKeyword Keyword
highlight default link logiqlEscape SpecialChar
highlight default link logiqlString String
highlight default link logiqlComment Comment

let b:current_syntax = 'logiql'
