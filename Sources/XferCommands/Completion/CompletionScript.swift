/// The script with which a shell calls `xferctl complete` for completions. ArgumentParser's own scripts repeat the
/// whole tree in the shell's language, and the one for fish never ends with a name such as `--http1.1`.
enum CompletionScript {
    static let bash = #"""
        _xferctl() {
            local -a answer
            mapfile -t answer < <("${COMP_WORDS[0]}" complete bash --type "$COMP_TYPE" --breaks "$COMP_WORDBREAKS" \
                -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
            COMPREPLY=()
            case ${answer[0]-} in
                files) compopt -o default ;;
                directories) compopt -o dirnames ;;
                *)
                    compopt -o nosort
                    COMPREPLY=("${answer[@]:1}") ;;
            esac
        }
        complete -F _xferctl xferctl
        """#

    static let zsh = #"""
        #compdef xferctl
        _xferctl() {
            local -a answer entries
            local line word
            answer=("${(@f)$("${(@Q)words[1]}" complete zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
            case $answer[1] in
                files) _files ;;
                directories) _files -/ ;;
                *)
                    for line in "${(@)answer[2,-1]}"; do
                        word=${${${line%%$'\t'*}//\\/\\\\}//:/\\:}
                        [[ $line == *$'\t'* ]] && word+=:${line#*$'\t'}
                        entries+=("$word")
                    done
                    _describe -V xferctl entries ;;
            esac
        }
        if [ "$funcstack[1]" = _xferctl ]; then _xferctl "$@"; else compdef _xferctl xferctl; fi
        """#

    static let fish = #"""
        function __xferctl_complete
            set -l current (commandline -ct)
            set -l words (commandline -opc)
            set -l answer ($words[1] complete fish -- $words[2..-1] "$current" 2>/dev/null)
            switch "$answer[1]"
                case files
                    __fish_complete_path "$current"
                case directories
                    __fish_complete_directories "$current"
                case '*'
                    string join \n -- $answer[2..-1]
            end
        end
        complete -c xferctl -f -k -a '(__xferctl_complete)'
        """#
}
