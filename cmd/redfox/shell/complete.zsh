#compdef redfox
# zsh completion for redfox: redfox completion zsh > "${fpath[1]}/_redfox"
_redfox() {
    local cur=${words[CURRENT]}
    local -a line=("${(@)words[1,CURRENT-1]}") found
    [[ $cur == -* ]] && line+=("$cur")
    if [[ $cur == -* || $CURRENT -eq 2 || $CURRENT -eq 3 && ${words[2]} == help ]]; then
        found=("${(@f)$("${line[@]}" --generate-bash-completion 2>/dev/null)}")
        [[ -n ${found[1]} ]] && compadd -- "${found[@]}"
    else
        _files
    fi
}
compdef _redfox redfox
